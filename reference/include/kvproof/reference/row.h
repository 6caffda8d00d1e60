// One input row to the bytes that a slot holds.
#pragma once

#include <cstdint>

#include "kvproof/reference/element.h"
#include "kvproof/reference/quantise.h"

namespace kvproof {

// A slot's bytes: the data plane's part, then the scale plane's part. A pad byte that the dialect keeps is not part of the
// row and reads 0 here.
struct RowImage {
  std::uint8_t data[576];
  std::uint8_t scales[8];
};

// The largest magnitude of `count` elements from `first` on, as amax_contribution defines it.
KVPROOF_HD inline F32 tile_amax(const std::uint8_t* row, ElementType type, int first, int count, Infinity infinity) {
  F32 amax = 0;
  for (int i = 0; i < count; ++i) {
    const F32 x = element_to_f32(element_bits(row, type, first + i), type);
    const F32 magnitude = amax_contribution(x, infinity);
    amax = magnitude > amax ? magnitude : amax;
  }
  return amax;
}

// Encodes the `layout_shape(dialect.layout).row_values` elements at `row` (little-endian, no alignment needed).
KVPROOF_HD inline void encode_row(const std::uint8_t* row, ElementType type, const Dialect& dialect, Fp8 fp8,
                                  RowImage* image) {
  const LayoutShape shape = layout_shape(dialect.layout);
  const std::uint8_t limit_code = fp8_limit_code(fp8, dialect_limit(dialect, fp8));
  for (int i = 0; i < shape.scale_bytes; ++i) {
    image->scales[i] = 0;
  }
  for (int tile = 0; tile < shape.tiles; ++tile) {
    const int first = tile * shape.tile;
    const TileScale scale = tile_scale(tile_amax(row, type, first, shape.tile, dialect.infinity), dialect, fp8);
    for (int i = 0; i < shape.tile; ++i) {
      const F32 x = element_to_f32(element_bits(row, type, first + i), type);
      image->data[first + i] = quantise(x, scale, dialect, fp8, limit_code);
    }
    for (int byte = 0; byte < shape.bytes_per_scale; ++byte) {
      image->scales[tile * shape.bytes_per_scale + byte] = static_cast<std::uint8_t>(scale.stored >> (8 * byte));
    }
  }
  for (int i = 0; i < shape.rope; ++i) {
    const std::uint16_t rope = element_to_rope(element_bits(row, type, shape.codes + i), type);
    image->data[shape.codes + 2 * i] = static_cast<std::uint8_t>(rope);
    image->data[shape.codes + 2 * i + 1] = static_cast<std::uint8_t>(rope >> 8);
  }
}

}  // namespace kvproof
