#include "derive.h"

#include <algorithm>
#include <cstring>

#include "kvproof/reference/scale.h"

namespace kvproof {
namespace {

constexpr std::uint8_t between_rows = 0xA5;

void copy_row(const Case& from, std::int64_t token, Case& to, std::int64_t at) {
  std::memcpy(row_of(to, at), row_of(from, token), static_cast<std::size_t>(from.shape.row_bytes()));
}

}  // namespace

Case with_tokens(const Case& c, const std::vector<std::int64_t>& tokens) {
  Case derived;
  derived.shape = c.shape;
  derived.shape.tokens = static_cast<std::int64_t>(tokens.size());
  derived.poison_seed = c.poison_seed;
  derived.input.assign(static_cast<std::size_t>(derived.shape.input_bytes()), between_rows);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    copy_row(c, tokens[i], derived, static_cast<std::int64_t>(i));
    derived.indices.push_back(c.indices[static_cast<std::size_t>(tokens[i])]);
  }
  return derived;
}

Case with_row_stride(const Case& c, std::int64_t stride) {
  Case derived = c;
  derived.shape.row_stride = stride;
  derived.input.assign(static_cast<std::size_t>(derived.shape.input_bytes()), between_rows);
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    copy_row(c, token, derived, token);
  }
  return derived;
}

void set_element(Case& c, std::int64_t token, int i, std::uint32_t bits) {
  const int bytes = element_bytes(c.shape.input_type);
  for (int byte = 0; byte < bytes; ++byte) {
    row_of(c, token)[i * bytes + byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
  }
}

bool tile_is_finite(const Case& c, std::int64_t token, int tile) {
  const int values = layout_shape(c.shape.layout).tile;
  for (int i = tile * values; i < (tile + 1) * values; ++i) {
    if (!f32_is_finite(value_of(c, token, i))) {
      return false;
    }
  }
  return true;
}

F32 tile_amax(const Case& c, std::int64_t token, int tile) {
  const int values = layout_shape(c.shape.layout).tile;
  F32 amax = 0;
  for (int i = tile * values; i < (tile + 1) * values; ++i) {
    amax = std::max(amax, f32_magnitude(value_of(c, token, i)));
  }
  return amax;
}

bool tile_can_divide(const Case& c, std::int64_t token, int tile, const Dialect& dialect) {
  return tile_is_finite(c, token, tile) && can_divide(tile_amax(c, token, tile), dialect, c.shape.fp8);
}

}  // namespace kvproof
