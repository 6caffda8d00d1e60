// The whole store: a batch of rows into a page pool.
#pragma once

#include <cstdint>

#include "kvproof/reference/call.h"
#include "kvproof/reference/row.h"

namespace kvproof {

// Writes an encoded row to its slot through `write(offset, byte)`, offset in bytes from the pool's base (negative before
// it).
template <class Write>
KVPROOF_HD void place_row(const RowImage& image, const Location& at, const StoreShape& shape, const Dialect& dialect,
                          Write write) {
  const LayoutShape layout = layout_shape(shape.layout);
  const std::int64_t data = data_offset(shape.layout, at.slot);
  for (int i = 0; i < layout.data_bytes; ++i) {
    const int view = i < layout.codes ? 1 : 2;
    write(byte_offset(at.page, shape.page_stride, data + i, view, dialect.offset_width), image.data[i]);
  }
  const std::int64_t scales = scale_offset(shape.layout, at.slot, shape.page_size);
  const int written = layout.scale_bytes - (dialect.pad == Pad::keep ? layout.pad : 0);
  for (int i = 0; i < written; ++i) {
    write(byte_offset(at.page, shape.page_stride, scales + i, layout.bytes_per_scale, dialect.offset_width),
          image.scales[i]);
  }
}

// Stores token after token, so of duplicates the last one stays. Tokens outside the contract are stored only where the
// dialect is unguarded. `input` holds shape.input_bytes(), `indices` shape.indices_bytes().
template <class Write>
KVPROOF_HD void store(const StoreShape& shape, const Dialect& dialect, const std::uint8_t* input,
                      const std::uint8_t* indices, Write write) {
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    const Location at = locate(index_at(indices, shape.index_type, token), shape.pages, shape.page_size, dialect);
    const bool unguarded = at.fate == Fate::outside_contract && dialect.invalid == InvalidIndex::unguarded;
    if (at.fate != Fate::stored && !unguarded) {
      continue;
    }
    RowImage image;
    encode_row(input + token * shape.row_stride, shape.input_type, dialect, shape.fp8, &image);
    place_row(image, at, shape, dialect, write);
  }
}

}  // namespace kvproof
