#include "random_case.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kvproof/reference/dialects.h"

namespace kvproof {
namespace {

// A magnitude of the input type with exponents around `exponent` (of binary32), as that type's bits without the sign.
std::uint32_t element_near(Random& random, ElementType type, int exponent) {
  const auto fraction = static_cast<std::uint32_t>(random() & 0x7FFFFF);
  const auto field = static_cast<std::uint32_t>(std::clamp(exponent + 127, 0, 254));
  const std::uint32_t fp32 = field << 23 | (random() % 4 == 0 ? fraction & 0x700000U : fraction);
  switch (type) {
    case ElementType::bf16:
      return fp32 >> 16;
    case ElementType::fp16:
      return static_cast<std::uint32_t>(std::clamp(exponent + 15, 0, 30)) << 10 | (fp32 >> 13 & 0x3FFU);
    case ElementType::fp32:
      break;
  }
  return fp32;
}

std::uint32_t infinity_of(ElementType type) {
  return type == ElementType::bf16 ? 0x7F80U : (type == ElementType::fp16 ? 0x7C00U : f32_infinity);
}

std::uint32_t sign_of(ElementType type) { return type == ElementType::fp32 ? 0x80000000U : 0x8000U; }

void put(std::uint8_t* row, ElementType type, std::int64_t i, std::uint32_t bits) {
  std::memcpy(row + i * element_bytes(type), &bits, static_cast<std::size_t>(element_bytes(type)));
}

void fill_tile(Random& random, const Dialect& dialect, ElementType type, std::uint8_t* row, int first, int count) {
  const bool nans = dialect.nan != NanCode::unstated && random() % 6 == 0;
  const bool infinities = dialect.infinity != Infinity::unstated && random() % 6 == 0;
  const auto top = static_cast<int>(draw(random, -140, 127));
  const int spread = static_cast<int>(std::array{0, 1, 6, 14, 40}[random() % 5]);
  const bool zeros = random() % 10 == 0;
  const bool exact_edge = random() % 4 == 0;
  for (int i = first; i < first + count; ++i) {
    std::uint32_t bits = zeros ? 0U : element_near(random, type, top - static_cast<int>(draw(random, 0, spread)));
    if (exact_edge && !zeros && i == first) {  // amax = M / 256 * 2^k: ratio on a binade edge, one unit beside it at times
      bits = element_near(random, ElementType::fp32, top) & 0x7F800000U;
      bits |= 0x600000U;
      bits = type == ElementType::fp32 ? bits + static_cast<std::uint32_t>(random() % 3) : bits >> 16;
      bits = type == ElementType::fp16 ? 0x5B00U : bits;
    }
    if (nans && random() % 5 == 0) {
      bits = infinity_of(type) + 1 + static_cast<std::uint32_t>(random() % 0x3F);
    } else if (infinities && random() % 20 == 0) {
      bits = infinity_of(type);
    }
    put(row, type, i, bits | (random() % 2 == 0 ? sign_of(type) : 0U));
  }
}

std::int64_t draw_index(Random& random, const Dialect& dialect, const StoreShape& shape) {
  const std::int64_t capacity = shape.pages * shape.page_size;
  const std::int64_t slot = draw(random, 0, capacity - 1);
  if (random() % 5 != 0) {
    return slot;
  }
  const bool wide = shape.index_type == IndexType::int64;
  switch (dialect.invalid) {
    case InvalidIndex::minus_one:
      return -1;
    case InvalidIndex::negative:
      return -draw(random, 1, 1000);
    case InvalidIndex::non_positive:
      return -draw(random, 0, 1000);
    case InvalidIndex::outside:
      return random() % 2 == 0 ? -draw(random, 1, 1000) : draw(random, capacity, capacity + 1000);
    case InvalidIndex::precondition:
    case InvalidIndex::unguarded:
    case InvalidIndex::trap:
      break;
  }
  const bool narrows = dialect.index_width != Width::bits64;
  return wide && narrows ? slot + draw(random, -3, 3) * (std::int64_t{1} << 32) : slot;
}

}  // namespace

std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

Case random_case(Random& random, const Dialect& dialect, ElementType input_type, IndexType index_type, Fp8 fp8) {
  Case run;
  StoreShape& shape = run.shape;
  shape.layout = dialect.layout;
  shape.input_type = input_type;
  shape.index_type = index_type;
  shape.fp8 = fp8;
  shape.tokens = draw(random, 0, 5);
  shape.pages = draw(random, 1, 3);
  shape.page_size = draw(random, 1, 5);
  shape.page_stride = smallest_page_stride(shape.layout, shape.page_size) + draw(random, 0, 1) * draw(random, 1, 700);
  shape.row_stride = shape.row_bytes() + draw(random, 0, 1) * draw(random, 1, 50);
  run.input.resize(static_cast<std::size_t>(shape.input_bytes()));
  for (std::uint8_t& byte : run.input) {
    byte = static_cast<std::uint8_t>(random());
  }
  const LayoutShape layout = layout_shape(shape.layout);
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    std::uint8_t* row = run.input.data() + token * shape.row_stride;
    for (int tile = 0; tile < layout.tiles; ++tile) {
      fill_tile(random, dialect, input_type, row, tile * layout.tile, layout.tile);
    }
    for (int i = layout.codes; i < layout.row_values; ++i) {  // any bits, but a wider NaN only where it is stated
      auto bits = static_cast<std::uint32_t>(random());
      const bool is_nan = f32_is_nan(element_to_f32(input_type == ElementType::fp32 ? bits : bits & 0xFFFFU, input_type));
      put(row, input_type, i, is_nan && input_type != ElementType::bf16 && dialect.nan == NanCode::unstated ? 0U : bits);
    }
    run.indices.push_back(draw_index(random, dialect, shape));
  }
  return run;
}

Dialect random_dialect(Random& random, Layout layout) {
  Dialect d;
  do {
    d.layout = layout;
    d.floor = static_cast<Floor>(random() % 3);
    d.floor_value = std::array{0x38D1B717U, 0x322BCC77U, 0x3F000000U, 0x0D000000U, 0x00000100U, 0x7F000000U}[random() % 6];
    d.ratio = static_cast<Ratio>(random() % 2);
    d.scale = static_cast<Scale>(random() % 3);
    d.quantise = static_cast<Quantise>(random() % 4);
    d.fnuz_limit = random() % 2 == 0 ? 240 : 224;
    d.pad = static_cast<Pad>(random() % 2);
    d.invalid = static_cast<InvalidIndex>(random() % 7);
    d.division = static_cast<Division>(random() % 2);
    d.index_width = static_cast<Width>(random() % 3);
    d.nan = static_cast<NanCode>(1 + random() % 4);
    d.infinity = static_cast<Infinity>(1 + random() % 3);
  } while (
      dialect_contradiction(d).has_value() || (d.invalid == InvalidIndex::minus_one && d.index_width == Width::uint32) ||
      ((d.invalid == InvalidIndex::negative || d.invalid == InvalidIndex::non_positive) && d.index_width == Width::uint32));
  return d;
}

std::vector<std::uint8_t> bytes_of_indices(const Case& run) {
  std::vector<std::uint8_t> bytes;
  for (const std::int64_t index : run.indices) {
    for (int byte = 0; byte < index_bytes(run.shape.index_type); ++byte) {
      bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(index) >> (8 * byte)));
    }
  }
  return bytes;
}

}  // namespace kvproof
