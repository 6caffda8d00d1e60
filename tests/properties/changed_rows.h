// Kernels that are the model, and then change some of what it stored.
#pragma once

#include <algorithm>

#include "kvproof/device/subject.h"
#include "kvproof/reference/element.h"
#include "kvproof/reference/layout.h"
#include "kvproof/reference/locate.h"
#include "planted.h"

namespace kvproof {

// The model, then `change` for each row: its elements, its index in the call, its data and its scales in the pool.
template <class Change>
std::int32_t changed(void* state, const kvproof_store_call* call, const char** message, Change change) {
  planted::right(state, call, message);
  const auto layout = static_cast<Layout>(call->layout);
  for (std::int64_t token = 0; token < call->tokens; ++token) {
    const auto* row = static_cast<const std::uint8_t*>(call->input) + token * call->input_row_stride;
    const std::int64_t index =
        index_at(static_cast<const std::uint8_t*>(call->index), static_cast<IndexType>(call->index_type), token);
    const std::int64_t slot = index % call->page_size;
    std::uint8_t* page = static_cast<std::uint8_t*>(call->cache) + index / call->page_size * call->page_stride;
    change([row](int i) { return element_bits(row, ElementType::bf16, i); }, layout_shape(layout),
           page + data_offset(layout, slot), page + scale_offset(layout, slot, call->page_size));
  }
  return KVPROOF_STORED;
}

inline std::uint32_t amax_of(const auto& element, const LayoutShape& shape, int tile) {
  std::uint32_t amax = 0;
  for (int i = 0; i < shape.tile; ++i) {
    amax = std::max(amax, element(tile * shape.tile + i) & 0x7FFFU);
  }
  return amax;
}

}  // namespace kvproof
