// Where each byte of a page belongs, for both layouts.
//
// FlashMLA page:  [ slot 0: 448 codes, 64 rope values | slot 1 | ... ][ slot 0: 7 scale bytes, pad | slot 1 | ... ][ tail ]
// indexer page:   [ slot 0: 128 codes | slot 1 | ... ][ slot 0: fp32 scale | slot 1 | ... ][ tail ]
#pragma once

#include <cstdint>

#include "kvproof/reference/machine.h"

namespace kvproof {

enum class Layout : std::uint32_t { flashmla = 0, indexer = 1 };

// The shape of one token's row and of its bytes in a page. Every count is in values or bytes as named.
struct LayoutShape {
  int row_values;       // values of an input row
  int codes;            // leading values that are quantised
  int tile;             // values that share a scale
  int tiles;            // codes / tile
  int rope;             // trailing values stored as bf16
  int data_bytes;       // bytes of a slot in the page's first plane
  int scale_bytes;      // bytes of a slot in the page's second plane, pad included
  int bytes_per_scale;  // bytes of one scale
  int pad;              // pad bytes at the end of a slot's scale bytes

  // Bytes a token occupies in both planes together.
  KVPROOF_HD constexpr int token_bytes() const { return data_bytes + scale_bytes; }
};

KVPROOF_HD constexpr LayoutShape layout_shape(Layout layout) {
  if (layout == Layout::flashmla) {
    return {512, 448, 64, 7, 64, 576, 8, 1, 1};
  }
  return {128, 128, 128, 1, 0, 128, 4, 4, 0};
}

// Byte offset of a slot's codes inside its page. `slot` is signed: an unguarded port computes it for -1 too.
KVPROOF_HD constexpr std::int64_t data_offset(Layout layout, std::int64_t slot) {
  return slot * layout_shape(layout).data_bytes;
}

// Byte offset of a slot's scales inside its page of `page_size` tokens.
KVPROOF_HD constexpr std::int64_t scale_offset(Layout layout, std::int64_t slot, std::int64_t page_size) {
  const LayoutShape shape = layout_shape(layout);
  return page_size * shape.data_bytes + slot * shape.scale_bytes;
}

// The smallest page stride that holds `page_size` tokens, in bytes.
KVPROOF_HD constexpr std::int64_t smallest_page_stride(Layout layout, std::int64_t page_size) {
  return page_size * layout_shape(layout).token_bytes();
}

// The page stride that engines allocate: FlashMLA rounds up to a multiple of 576, the indexer is dense.
KVPROOF_HD constexpr std::int64_t production_page_stride(Layout layout, std::int64_t page_size) {
  const std::int64_t bytes = smallest_page_stride(layout, page_size);
  return layout == Layout::flashmla ? (bytes + 575) / 576 * 576 : bytes;
}

// What a byte of a page is for.
enum class Region : std::uint32_t { code, rope, scale, pad, tail };

// One byte of a page, named. Fields that a region does not have are -1.
struct PagePlace {
  Region region;
  std::int64_t slot;
  int tile;     // code, scale
  int element;  // code: value within the tile; rope: value within the 64
  int byte;     // byte within the rope value or the scale
};

// Names the byte at `offset` of a page, 0 <= offset < page stride.
KVPROOF_HD constexpr PagePlace place_in_page(Layout layout, std::int64_t page_size, std::int64_t offset) {
  const LayoutShape shape = layout_shape(layout);
  const std::int64_t scales = page_size * shape.data_bytes;
  if (offset < scales) {
    const std::int64_t slot = offset / shape.data_bytes;
    const int at = static_cast<int>(offset % shape.data_bytes);
    if (at < shape.codes) {
      return {Region::code, slot, at / shape.tile, at % shape.tile, -1};
    }
    return {Region::rope, slot, -1, (at - shape.codes) / 2, (at - shape.codes) % 2};
  }
  if (offset < scales + page_size * shape.scale_bytes) {
    const std::int64_t slot = (offset - scales) / shape.scale_bytes;
    const int at = static_cast<int>((offset - scales) % shape.scale_bytes);
    if (at < shape.tiles * shape.bytes_per_scale) {
      return {Region::scale, slot, at / shape.bytes_per_scale, -1, at % shape.bytes_per_scale};
    }
    return {Region::pad, slot, -1, -1, -1};
  }
  return {Region::tail, -1, -1, -1, -1};
}

}  // namespace kvproof
