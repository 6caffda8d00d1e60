// The steps of a right store. A defect is a struct that derives from Right and changes one of them.
#pragma once

#include "planted/call.h"

namespace kvproof::planted {

struct Right {
  // The index of a token.
  KVPROOF_HD static std::int64_t index(const Call& call, std::int64_t token) {
    return index_at(call.indices, call.shape.index_type, token);
  }

  // Whether an index is stored.
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) { return index >= 0 && index < call.shape.capacity(); }

  KVPROOF_HD static std::int64_t page(const Call& call, std::int64_t index) { return index / call.shape.page_size; }
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) { return index % call.shape.page_size; }

  // The first byte of a token's row.
  KVPROOF_HD static const std::uint8_t* row(const Call& call, std::int64_t token) {
    return call.input + token * call.shape.row_stride;
  }

  KVPROOF_HD static void encode(const Call& call, const std::uint8_t* row, RowImage* image) {
    encode_row(row, call.shape.input_type, call.dialect, call.shape.fp8, image);
  }

  // Byte offsets from the pool's base.
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return page * call.shape.page_stride + data_offset(call.shape.layout, slot);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return page * call.shape.page_stride + scale_offset(call.shape.layout, slot, call.shape.page_size);
  }

  // Bytes of the scale plane that are written; the pad byte is kept.
  KVPROOF_HD static int scale_bytes(const Call& call) {
    const LayoutShape layout = layout_shape(call.shape.layout);
    return layout.scale_bytes - layout.pad;
  }

  // Before and after the row is written.
  KVPROOF_HD static void before(const Call&, std::int64_t /*token*/) {}
  KVPROOF_HD static void after(const Call&, std::int64_t /*token*/, std::int64_t /*page*/, std::int64_t /*slot*/) {}
};

// One token, with the steps of `Steps`.
template <class Steps>
KVPROOF_HD void store_token(const Call& call, std::int64_t token) {
  Steps::before(call, token);
  const std::int64_t index = Steps::index(call, token);
  if (!Steps::stored(call, index)) {
    return;
  }
  const std::int64_t page = Steps::page(call, index);
  const std::int64_t slot = Steps::slot(call, index);
  RowImage image;
  Steps::encode(call, Steps::row(call, token), &image);
  const LayoutShape layout = layout_shape(call.shape.layout);
  std::uint8_t* data = call.pool + Steps::data_at(call, page, slot);
  for (int i = 0; i < layout.data_bytes; ++i) {
    data[i] = image.data[i];
  }
  std::uint8_t* scales = call.pool + Steps::scales_at(call, page, slot);
  for (int i = 0; i < Steps::scale_bytes(call); ++i) {
    scales[i] = image.scales[i];
  }
  Steps::after(call, token, page, slot);
}

}  // namespace kvproof::planted
