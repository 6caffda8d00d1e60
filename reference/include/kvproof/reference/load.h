// The other direction: codes and scales of a slot back to values.
#pragma once

#include <cstdint>

#include "kvproof/reference/call.h"
#include "kvproof/reference/f32_multiply.h"
#include "kvproof/reference/fp8_to_f32.h"
#include "kvproof/reference/ue8m0.h"

namespace kvproof {

// The scale of `tile` of a slot as a value: 2^(byte - 127), or the stored fp32. UE8M0 byte 255 reads as NaN, as FlashMLA's
// reader has it.
KVPROOF_HD inline F32 load_scale(const std::uint8_t* pool, const StoreShape& shape, std::int64_t page, std::int64_t slot,
                                 int tile) {
  const std::uint8_t* at = pool + page * shape.page_stride + scale_offset(shape.layout, slot, shape.page_size);
  if (shape.layout == Layout::flashmla) {
    return at[tile] == 255 ? f32_quiet_nan : ue8m0_to_f32(at[tile]);
  }
  return element_bits(at, ElementType::fp32, tile);
}

// Value `i` of a slot's row as binary32: fl(code value * scale) for a code (exact but for results below the normal range),
// the bf16 itself for rope. 0 <= i < row_values.
KVPROOF_HD inline F32 load_value(const std::uint8_t* pool, const StoreShape& shape, std::int64_t page, std::int64_t slot,
                                 int i) {
  const LayoutShape layout = layout_shape(shape.layout);
  const std::uint8_t* data = pool + page * shape.page_stride + data_offset(shape.layout, slot);
  if (i < layout.codes) {
    return f32_multiply(fp8_to_f32(data[i], shape.fp8), load_scale(pool, shape, page, slot, i / layout.tile));
  }
  return bf16_to_f32(static_cast<std::uint16_t>(element_bits(data + layout.codes, ElementType::bf16, i - layout.codes)));
}

// Reads a whole row back: `values` takes row_values patterns.
KVPROOF_HD inline void load_row(const std::uint8_t* pool, const StoreShape& shape, std::int64_t page, std::int64_t slot,
                                F32* values) {
  for (int i = 0; i < layout_shape(shape.layout).row_values; ++i) {
    values[i] = load_value(pool, shape, page, slot, i);
  }
}

}  // namespace kvproof
