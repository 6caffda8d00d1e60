// A store call as the planted kernels take it: plain data for host and device.
#pragma once

#include "kvproof/kernel.h"
#include "kvproof/reference/store.h"

namespace kvproof::planted {

struct Call {
  StoreShape shape;
  Dialect dialect;
  const std::uint8_t* input;
  const std::uint8_t* indices;
  std::uint8_t* pool;
  std::int64_t given;      // tokens that the caller gave
  std::int64_t launch;     // calls of this kernel before this one, in this process
  std::uint32_t* scratch;  // of the kernels that keep some
};

inline Call call_of(const kvproof_store_call& from, const Dialect& dialect, std::int64_t launch) {
  Call call{};
  call.shape.layout = static_cast<Layout>(from.layout);
  call.shape.input_type = static_cast<ElementType>(from.input_type);
  call.shape.index_type = static_cast<IndexType>(from.index_type);
  call.shape.fp8 = static_cast<Fp8>(from.fp8_type);
  call.shape.tokens = from.tokens;
  call.shape.row_stride = from.input_row_stride;
  call.shape.pages = from.pages;
  call.shape.page_size = from.page_size;
  call.shape.page_stride = from.page_stride;
  call.dialect = dialect;
  call.input = static_cast<const std::uint8_t*>(from.input);
  call.indices = static_cast<const std::uint8_t*>(from.index);
  call.pool = static_cast<std::uint8_t*>(from.cache);
  call.given = from.tokens;
  call.launch = launch;
  return call;
}

}  // namespace kvproof::planted
