#include "kvproof/properties/contract.h"

#include <fmt/format.h>

namespace kvproof {
namespace {

// Offsets count in the narrowest view, single bytes, so a narrow one reaches this far.
std::optional<std::string> offsets_out_of_reach(const StoreShape& shape, Width width) {
  const std::int64_t reach = width == Width::int32 ? std::int64_t{1} << 31 : std::int64_t{1} << 32;
  if (width == Width::bits64 || shape.pool_bytes() <= reach) {
    return std::nullopt;
  }
  return fmt::format("a pool of {} bytes: the dialect computes offsets in 32 bits, expected at most {}", shape.pool_bytes(),
                     reach);
}

std::optional<std::string> unstated_value(const Case& c, const Dialect& dialect) {
  const bool nan_stated = dialect.nan != NanCode::unstated;
  const bool infinity_stated = dialect.infinity != Infinity::unstated;
  if (nan_stated && infinity_stated) {
    return std::nullopt;
  }
  const LayoutShape layout = layout_shape(c.shape.layout);
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    const std::uint8_t* row = c.input.data() + token * c.shape.row_stride;
    for (int i = 0; i < layout.row_values; ++i) {
      const F32 x = element_to_f32(element_bits(row, c.shape.input_type, i), c.shape.input_type);
      if (f32_is_finite(x)) {
        continue;
      }
      const bool nan = f32_is_nan(x);
      // A bf16 rope is a copy of bits, and an infinity in a wider rope is an infinity in bf16.
      const bool in_rope = i >= layout.codes;
      const bool fixed = in_rope && (!nan || c.shape.input_type == ElementType::bf16);
      if (!fixed && (nan ? !nan_stated : !infinity_stated)) {
        return fmt::format("token {} value {} is {}: the dialect does not state what that gives", token, i,
                           nan ? "NaN" : "infinite");
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> contract_breach(const Case& c, const Dialect& dialect) {
  if (auto breach = offsets_out_of_reach(c.shape, dialect.offset_width)) {
    return breach;
  }
  return unstated_value(c, dialect);
}

}  // namespace kvproof
