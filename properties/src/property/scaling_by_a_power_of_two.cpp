// A tile of 2^k x has the codes of x, and a scale k binades higher, where no floor, subnormal or infinity comes between.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "../derive.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

// Exponents of an input type's normal values, by its own.
struct Binades {
  int least;
  int most;
};

Binades binades_of(ElementType type) { return type == ElementType::fp16 ? Binades{-14, 15} : Binades{-126, 127}; }

int exponent_of(F32 magnitude) { return static_cast<int>(magnitude >> 23) - 127; }

// The least exponent of an amax that no floor touches: a floor of the ratio is one of amax times less than 2^9. 2^-4 lies
// above the floors of all public ports, so that a wrong floor field of a dialect of one's own changes nothing here.
int above_floor(const Dialect& dialect) {
  return dialect.floor == Floor::none ? -4 : std::max(-4, exponent_of(dialect.floor_value) + 10);
}

// By how much each tile is scaled, in binades; 0 where it cannot be.
std::vector<int> draw_shifts(Draw& draw, const Case& c, const Dialect& dialect) {
  const LayoutShape layout = layout_shape(c.shape.layout);
  const Binades binades = binades_of(c.shape.input_type);
  std::vector<int> shifts;
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    for (int tile = 0; tile < layout.tiles; ++tile) {
      shifts.push_back(0);
      const F32 amax = tile_amax(c, token, tile);
      if (!tile_is_finite(c, token, tile) || amax == 0 || exponent_of(amax) < above_floor(dialect)) {
        continue;
      }
      F32 least = amax;
      for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
        const F32 magnitude = f32_magnitude(value_of(c, token, i));
        least = magnitude == 0 ? least : std::min(least, magnitude);
      }
      if (exponent_of(least) < binades.least) {
        continue;  // a subnormal has fewer bits to move
      }
      // Upwards not to the last binade: a rounded-up amax stays finite. Codes must not come from products below 2^-126.
      const int down = std::min(exponent_of(least) - binades.least, exponent_of(amax) - above_floor(dialect));
      const int up = binades.most - 1 - exponent_of(amax);
      if (down > 0 || up > 0) {
        shifts.back() = static_cast<int>(draw.between(-std::max(down, 0), std::max(up, 0)));
      }
    }
  }
  return shifts;
}

Case shifted(const Case& c, const std::vector<int>& shifts) {
  const LayoutShape layout = layout_shape(c.shape.layout);
  const int fraction = c.shape.input_type == ElementType::fp32 ? 23 : (c.shape.input_type == ElementType::bf16 ? 7 : 10);
  Case other = c;
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    for (int i = 0; i < layout.codes; ++i) {
      const int shift = shifts[static_cast<std::size_t>(token * layout.tiles + i / layout.tile)];
      if (shift != 0 && f32_magnitude(value_of(c, token, i)) != 0) {
        const auto change = static_cast<std::uint32_t>(shift) << fraction;  // of the exponent field, modulo 2^32
        set_element(other, token, i, element_of(c, token, i) + change);
      }
    }
  }
  return other;
}

// A quotient that is off by what the kernel declares may lie beyond a tie, where the next code begins.
bool codes_agree(std::uint8_t one, std::uint8_t two, const Dialect& dialect, Fp8 type) {
  if (one == two || dialect.reciprocal_ulp == 0 || fp8_is_nan(one, type) || fp8_is_nan(two, type)) {
    return one == two;
  }
  const bool same_sign = (one & 0x80) == (two & 0x80);
  const bool about_zero = type == Fp8::e4m3fnuz && std::min(one, two) == 0x00 && std::max(one, two) == 0x81;  // it has no -0
  return about_zero || (same_sign && std::abs(one - two) == 1);
}

std::uint32_t scale_at(const PoolAfter& after, std::int64_t slot, int tile, const LayoutShape& layout) {
  return layout.bytes_per_scale == 1 ? after.scales(slot)[tile] : element_bits(after.scales(slot), ElementType::fp32, tile);
}

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  const LayoutShape layout = layout_shape(c.shape.layout);
  Draw draw = rig.draw();
  const std::vector<int> shifts = draw_shifts(draw, c, rig.subject().dialect);
  const auto one = rig.run(c);
  const auto two = rig.run(shifted(c, shifts));
  if (!one || !two) {
    return std::nullopt;
  }
  Differences differences;
  for_each_row(*one, *two, [&](std::int64_t token, std::int64_t slot) {
    for (int tile = 0; tile < layout.tiles; ++tile) {
      const int shift = shifts[static_cast<std::size_t>(token * layout.tiles + tile)];
      if (shift == 0) {
        continue;
      }
      rig.compared(layout.tile + layout.bytes_per_scale, layout.tile);
      rig.exercised_if(true);
      for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
        if (!codes_agree(one->data(slot)[i], two->data(slot)[i], rig.subject().dialect, c.shape.fp8)) {
          differences.add(fmt::format("{}: 0x{:02x}, and 0x{:02x} of 2^{} times the tile",
                                      place_in_pool(c.shape, one->data_at(slot) + i), one->data(slot)[i], two->data(slot)[i],
                                      shift));
        }
      }
      const std::uint32_t before = scale_at(*one, slot, tile, layout);
      const std::uint32_t after = scale_at(*two, slot, tile, layout);
      const std::uint32_t expected = before + (static_cast<std::uint32_t>(shift) << (layout.bytes_per_scale == 1 ? 0 : 23));
      if (after != expected) {
        differences.add(fmt::format("{}: the scale is 0x{:x}, and 0x{:x} of 2^{} times the tile, expected 0x{:x}",
                                    place_in_pool(c.shape, one->scales_at(slot) + tile * layout.bytes_per_scale), before,
                                    after, shift, expected));
      }
    }
  });
  return differences.breach("codes and scales do not follow a power of two");
}

}  // namespace

const Property& scaling_by_a_power_of_two() {
  static const Property property{
      .name = "scaling_by_a_power_of_two",
      .promise =
          "2^k times a tile has its codes and a scale k binades higher, where no floor, subnormal or infinity comes "
          "between; "
          "the next code too where the dialect declares its division to be off",
      .catches =
          "a logarithm that is one binade off far from 1, a table of exponents with a gap: values of a test are all near 1",
      .focus = {.values = {0, 0, 0, 4, 4, 1, 0, 0, 6, 1, 0, 0}, .indices = {2, 3, 1, 1, 0, 0, 0, 0}, .most_tokens = 24},
      .exercised_by = "a tile that can be scaled, stored before and after",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
