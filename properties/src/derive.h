// Cases made from a case.
#pragma once

#include <cstdint>
#include <vector>

#include "kvproof/properties/case.h"
#include "kvproof/reference/element.h"

namespace kvproof {

// The case with these of its tokens, in this order, their indices with them.
Case with_tokens(const Case& c, const std::vector<std::int64_t>& tokens);

// The tokens that `keep(token)` chooses.
template <class Keep>
std::vector<std::int64_t> tokens_where(const Case& c, Keep keep) {
  std::vector<std::int64_t> tokens;
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    if (keep(token)) {
      tokens.push_back(token);
    }
  }
  return tokens;
}

// The same rows, `stride` bytes apart.
Case with_row_stride(const Case& c, std::int64_t stride);

inline std::uint8_t* row_of(Case& c, std::int64_t token) { return c.input.data() + token * c.shape.row_stride; }
inline const std::uint8_t* row_of(const Case& c, std::int64_t token) { return c.input.data() + token * c.shape.row_stride; }

inline std::uint32_t element_of(const Case& c, std::int64_t token, int i) {
  return element_bits(row_of(c, token), c.shape.input_type, i);
}
inline F32 value_of(const Case& c, std::int64_t token, int i) {
  return element_to_f32(element_of(c, token, i), c.shape.input_type);
}
void set_element(Case& c, std::int64_t token, int i, std::uint32_t bits);

// Whether a tile has neither NaN nor infinity.
bool tile_is_finite(const Case& c, std::int64_t token, int tile);

// The largest magnitude of a finite tile.
F32 tile_amax(const Case& c, std::int64_t token, int tile);

// Whether a tile is finite and the dialect can divide by its scale.
bool tile_can_divide(const Case& c, std::int64_t token, int tile, const Dialect& dialect);

}  // namespace kvproof
