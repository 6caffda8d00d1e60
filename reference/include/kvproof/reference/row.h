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

// One tile: its values read once, as binary32, then its scale and its codes.
template <ElementType type, int tile_values>
KVPROOF_HD inline TileScale encode_tile(const std::uint8_t* row, int first, const Dialect& dialect, Fp8 fp8,
                                        std::uint8_t limit_code, std::uint8_t* codes) {
  F32 values[tile_values];
  F32 amax = 0;
  for (int i = 0; i < tile_values; ++i) {
    values[i] = element_to_f32(element_bits(row, type, first + i), type);
    const F32 magnitude = amax_contribution(values[i], dialect.infinity);
    amax = magnitude > amax ? magnitude : amax;
  }
  const TileScale scale = tile_scale(amax, dialect, fp8);
  if (scale.exact_shift) {
    for (int i = 0; i < tile_values; ++i) {
      codes[i] = quantise_by_shift(values[i], scale, dialect, fp8, limit_code);
    }
  } else if (dialect.quantise == Quantise::divide) {
    for (int i = 0; i < tile_values; ++i) {
      codes[i] = quantise_by<Quantise::divide>(values[i], scale, dialect, fp8, limit_code);
    }
  } else {
    for (int i = 0; i < tile_values; ++i) {
      codes[i] = quantise_by<Quantise::multiply_reciprocal>(values[i], scale, dialect, fp8, limit_code);
    }
  }
  return scale;
}

template <ElementType type>
KVPROOF_HD inline TileScale encode_tile_of(const std::uint8_t* row, int first, const Dialect& dialect, Fp8 fp8,
                                           std::uint8_t limit_code, std::uint8_t* codes) {
  return dialect.layout == Layout::flashmla
             ? encode_tile<type, layout_shape(Layout::flashmla).tile>(row, first, dialect, fp8, limit_code, codes)
             : encode_tile<type, layout_shape(Layout::indexer).tile>(row, first, dialect, fp8, limit_code, codes);
}

KVPROOF_HD inline TileScale encode_tile(const std::uint8_t* row, ElementType type, int first, const Dialect& dialect,
                                        Fp8 fp8, std::uint8_t limit_code, std::uint8_t* codes) {
  switch (type) {
    case ElementType::bf16:
      return encode_tile_of<ElementType::bf16>(row, first, dialect, fp8, limit_code, codes);
    case ElementType::fp16:
      return encode_tile_of<ElementType::fp16>(row, first, dialect, fp8, limit_code, codes);
    case ElementType::fp32:
      break;
  }
  return encode_tile_of<ElementType::fp32>(row, first, dialect, fp8, limit_code, codes);
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
    const TileScale scale = encode_tile(row, type, first, dialect, fp8, limit_code, image->data + first);
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
