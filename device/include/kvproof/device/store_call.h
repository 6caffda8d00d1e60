// A store call as a kernel under test receives it.
#pragma once

#include "kvproof/kernel.h"
#include "kvproof/reference/call.h"

namespace kvproof {

// The call that stores `shape.tokens` rows.
kvproof_store_call store_call(const StoreShape& shape, void* pool, const void* input, const void* indices, void* stream);

// The shape of a call. Its types must be ones that the model has.
inline StoreShape shape_of(const kvproof_store_call& call) {
  StoreShape s;
  s.layout = static_cast<Layout>(call.layout);
  s.input_type = static_cast<ElementType>(call.input_type);
  s.index_type = static_cast<IndexType>(call.index_type);
  s.fp8 = static_cast<Fp8>(call.fp8_type);
  s.tokens = call.tokens;
  s.row_stride = call.input_row_stride;
  s.pages = call.pages;
  s.page_size = call.page_size;
  s.page_stride = call.page_stride;
  return s;
}

// The call of `tokens` of its tokens, from `first` on.
kvproof_store_call part_of(const kvproof_store_call& whole, std::int64_t first, std::int64_t tokens);

}  // namespace kvproof
