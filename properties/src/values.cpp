#include "kvproof/properties/values.h"

#include <algorithm>

#include "kvproof/reference/f32_multiply.h"
#include "kvproof/reference/fp8_to_f32.h"
#include "kvproof/reference/scale.h"

namespace kvproof {
namespace {

// 2^exponent, -126 to 127.
F32 power_of_two(int exponent) { return static_cast<F32>(exponent + 127) << 23; }

void put(std::uint8_t* row, ElementType type, int i, std::uint32_t pattern) {
  std::uint8_t* at = row + static_cast<std::ptrdiff_t>(i) * element_bytes(type);
  for (int byte = 0; byte < element_bytes(type); ++byte) {
    at[byte] = static_cast<std::uint8_t>(pattern >> (8 * byte));
  }
}

std::uint32_t sign_bit(ElementType type) { return type == ElementType::fp32 ? 0x80000000U : 0x8000U; }

std::uint32_t infinity_of(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return 0x7F80U;
    case ElementType::fp16:
      return 0x7C00U;
    case ElementType::fp32:
      break;
  }
  return f32_infinity;
}

// The smallest normal pattern: below it lie the subnormals.
std::uint32_t smallest_normal(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return 0x0080U;
    case ElementType::fp16:
      return 0x0400U;
    case ElementType::fp32:
      break;
  }
  return 0x00800000U;
}

// A magnitude pattern moved by `steps` units in the last place, kept finite and non-negative.
std::uint32_t step(std::uint32_t magnitude, std::int64_t steps, ElementType type) {
  const auto moved = static_cast<std::int64_t>(magnitude) + steps;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(moved, 0, infinity_of(type) - 1));
}

std::uint32_t with_sign(Draw& draw, std::uint32_t magnitude, ElementType type) {
  return magnitude | (draw.one_in(2) ? sign_bit(type) : 0U);
}

// fp16 holds exponents -14 to 15, the others -126 to 127.
int draw_exponent(Draw& draw, ElementType type) {
  return static_cast<int>(type == ElementType::fp16 ? draw.between(-14, 15) : draw.between(-126, 127));
}

// An amax pattern for tiles whose other elements lie at or below it.
std::uint32_t draw_amax(Draw& draw, ElementType type) {
  const F32 significand = static_cast<F32>(draw.below(0x800000));
  const int exponent =
      type == ElementType::fp16 ? static_cast<int>(draw.between(-12, 14)) : static_cast<int>(draw.between(-30, 30));
  return std::max<std::uint32_t>(1, pattern_near(power_of_two(exponent) | significand, type));
}

// Fills a tile from `element`, then puts `amax` somewhere in it.
template <class Element>
void fill_under(Draw& draw, std::uint32_t amax, ElementType type, std::uint8_t* row, int first, int count, Element element) {
  for (int i = 0; i < count; ++i) {
    const std::uint32_t magnitude = std::min<std::uint32_t>(element(), amax);
    put(row, type, first + i, with_sign(draw, magnitude, type));
  }
  put(row, type, first + static_cast<int>(draw.below(count)), with_sign(draw, amax, type));
}

F32 to_f32(std::uint32_t pattern, ElementType type) { return element_to_f32(pattern, type); }

// A magnitude halfway between two codes of a tile whose scale is `scale`, or a unit in the last place beside it.
std::uint32_t draw_tie(Draw& draw, F32 scale, Fp8 fp8, int lowest_code, int highest_code, ElementType type) {
  const auto code = static_cast<std::uint8_t>(draw.between(lowest_code, highest_code));
  const auto above = static_cast<std::uint8_t>(code + 1);
  // Both are multiples of the same power of two with few bits, so half of their sum is the sum of their exact halves.
  const F32 low = fp8_to_f32(code, fp8);
  const F32 high = fp8_to_f32(above, fp8);
  const F32Parts h = f32_split(high);
  F32 middle = 0;
  if (low == 0) {
    middle = f32_multiply(high, power_of_two(-1));
  } else {
    const F32Parts l = f32_split(low);
    const std::uint32_t sum =
        (l.significand >> (h.exponent - l.exponent)) + h.significand;  // exact: 4 significant bits each
    middle = sum < (1U << 24) ? f32_round_pack(0, h.exponent - 1, sum << 7) : f32_round_pack(0, h.exponent, sum << 6);
  }
  return step(pattern_near(f32_multiply(middle, scale), type), draw.between(-1, 1), type);
}

F32 scale_value(F32 amax, const Dialect& dialect, Fp8 fp8) {
  const TileScale scale = tile_scale(amax, dialect, fp8);
  return dialect.scale == Scale::ue8m0 ? ue8m0_to_f32(static_cast<std::uint8_t>(scale.stored)) : scale.stored;
}

}  // namespace

std::string_view name_of(ValueClass value_class) {
  static constexpr std::array<std::string_view, value_classes> names{
      "zeros", "signed zeros", "subnormals", "binade edge",       "ties", "half subnormals",
      "floor", "extremes",     "spread",     "any finite values", "NaN",  "infinities"};
  return names.at(static_cast<std::size_t>(value_class));
}

std::uint32_t pattern_near(F32 x, ElementType type) {
  switch (type) {
    case ElementType::bf16: {
      const std::uint16_t rounded = f32_to_bf16(x);
      return f32_is_finite(x) && (rounded & 0x7FFFU) == 0x7F80U ? rounded - 1U : rounded;
    }
    case ElementType::fp16: {
      const std::uint32_t sign = (x >> 16) & 0x8000U;
      const F32 magnitude = f32_magnitude(x);
      if (magnitude >= f32_infinity) {
        return sign | (magnitude > f32_infinity ? 0x7E00U : 0x7C00U);
      }
      if (magnitude >= 0x477FE000U) {  // 65504
        return sign | 0x7BFFU;
      }
      if (magnitude >= 0x38800000U) {  // 2^-14
        return sign | std::min(0x7BFFU, shift_right_nearest_even(magnitude - (112U << 23), 13));
      }
      if (magnitude < 0x33000000U) {  // 2^-25
        return sign;
      }
      const F32Parts parts = f32_split(magnitude);
      return sign | shift_right_nearest_even(parts.significand, -1 - parts.exponent);
    }
    case ElementType::fp32:
      break;
  }
  return x;
}

ValueClass draw_class(Draw& draw, const ValueWeights& weights, const Dialect& dialect) {
  ValueWeights allowed = weights;
  if (dialect.nan == NanCode::unstated) {
    allowed[static_cast<std::size_t>(ValueClass::nans)] = 0;
  }
  if (dialect.infinity == Infinity::unstated) {
    allowed[static_cast<std::size_t>(ValueClass::infinities)] = 0;
  }
  return static_cast<ValueClass>(draw.weighted(allowed));
}

void draw_tile(Draw& draw, ValueClass value_class, const Dialect& dialect, Fp8 fp8, ElementType type, std::uint8_t* row,
               int first, int count) {
  const std::uint32_t infinity = infinity_of(type);
  const auto finite = [&] { return static_cast<std::uint32_t>(draw.below(infinity)); };
  const auto spread = [&](std::uint32_t amax) {
    // Down to some 16 binades below amax, as keys are.
    const std::int64_t binade = type == ElementType::fp32 ? 1 << 23 : (type == ElementType::bf16 ? 1 << 7 : 1 << 10);
    return step(amax, -draw.below(16 * binade), type);
  };
  switch (value_class) {
    case ValueClass::zeros:
      for (int i = 0; i < count; ++i) {
        put(row, type, first + i, 0);
      }
      return;
    case ValueClass::signed_zeros: {
      const std::uint32_t amax = draw.one_in(2) ? 0U : draw_amax(draw, type);
      fill_under(draw, amax, type, row, first, count, [] { return 0U; });
      return;
    }
    case ValueClass::subnormals:
      fill_under(draw, 1 + static_cast<std::uint32_t>(draw.below(smallest_normal(type))), type, row, first, count,
                 [&] { return static_cast<std::uint32_t>(draw.below(smallest_normal(type))); });
      return;
    case ValueClass::binade_edge: {
      const F32 limit = dialect_limit_f32(dialect, fp8);
      const int exponent = draw_exponent(draw, type);
      // M's significand at any exponent: there amax / M is a power of two.
      const F32 edge = (limit & 0x007FFFFFU) | power_of_two(exponent);
      const std::uint32_t amax = step(pattern_near(edge, type), draw.between(-1, 1), type);
      fill_under(draw, amax, type, row, first, count, [&] { return spread(amax); });
      return;
    }
    case ValueClass::ties: {
      const std::uint32_t amax = draw_amax(draw, type);
      const F32 scale = scale_value(to_f32(amax, type), dialect, fp8);
      const int limit = fp8_limit_code(fp8, dialect_limit(dialect, fp8));
      fill_under(draw, amax, type, row, first, count, [&] { return draw_tie(draw, scale, fp8, 7, limit - 1, type); });
      return;
    }
    case ValueClass::half_subnormals: {
      const std::uint32_t amax = draw_amax(draw, type);
      const F32 scale = scale_value(to_f32(amax, type), dialect, fp8);
      fill_under(draw, amax, type, row, first, count, [&] { return draw_tie(draw, scale, fp8, 0, 7, type); });
      return;
    }
    case ValueClass::floor_neighbours: {
      F32 floor = dialect.floor_value;
      if (dialect.floor == Floor::ratio) {
        floor = f32_multiply(floor, dialect_limit_f32(dialect, fp8));
      }
      // Other ports' floors are tried too: a kernel with the wrong one differs only there.
      const F32 target = draw.of({floor, floor, F32{0x38D1B717U}, F32{0x322BCC77U}, F32{0x3D378034U}});
      const std::uint32_t amax = step(pattern_near(target, type), draw.between(-2, 2), type);
      fill_under(draw, amax, type, row, first, count, [&] { return spread(amax); });
      return;
    }
    case ValueClass::extremes: {
      const std::uint32_t amax = step(infinity, -1 - draw.below(4), type);
      fill_under(draw, amax, type, row, first, count, [&] {
        return draw.one_in(2) ? static_cast<std::uint32_t>(draw.below(4)) : step(infinity, -1 - draw.below(4096), type);
      });
      return;
    }
    case ValueClass::spread: {
      const std::uint32_t amax = draw_amax(draw, type);
      fill_under(draw, amax, type, row, first, count, [&] { return spread(amax); });
      return;
    }
    case ValueClass::any_finite:
      fill_under(draw, finite(), type, row, first, count, finite);
      return;
    case ValueClass::nans:
    case ValueClass::infinities: {
      draw_tile(draw, draw.one_in(4) ? ValueClass::zeros : ValueClass::spread, dialect, fp8, type, row, first, count);
      const bool nan = value_class == ValueClass::nans;
      const std::int64_t how_many = draw.one_in(8) ? count : draw.between(1, 4);
      for (std::int64_t n = 0; n < how_many; ++n) {
        const int at = how_many == count ? static_cast<int>(n) : static_cast<int>(draw.below(count));
        const std::uint32_t payload = nan ? 1U + static_cast<std::uint32_t>(draw.below(sign_bit(type) - infinity - 1)) : 0U;
        put(row, type, first + at, with_sign(draw, infinity + payload, type));
      }
      return;
    }
  }
}

void draw_rope(Draw& draw, const Dialect& dialect, ElementType type, std::uint8_t* row, int first, int count) {
  const std::uint32_t infinity = infinity_of(type);
  const bool nan_allowed = type == ElementType::bf16 || dialect.nan != NanCode::unstated;
  for (int i = 0; i < count; ++i) {
    auto magnitude = static_cast<std::uint32_t>(draw.below(sign_bit(type)));  // all patterns, NaN among them
    if (magnitude > infinity && !nan_allowed) {
      magnitude = infinity;
    }
    switch (draw.below(8)) {
      case 0:
        magnitude = 0;
        break;
      case 1:
        magnitude = static_cast<std::uint32_t>(draw.below(smallest_normal(type)));
        break;
      default:
        break;
    }
    put(row, type, first + i, with_sign(draw, magnitude, type));
  }
}

}  // namespace kvproof
