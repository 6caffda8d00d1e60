#include "kvproof/device/store_call.h"

namespace kvproof {

kvproof_store_call store_call(const StoreShape& shape, void* pool, const void* input, const void* indices, void* stream) {
  kvproof_store_call call{};
  call.size = sizeof call;
  call.layout = static_cast<std::uint32_t>(shape.layout);
  call.input = input;
  call.input_type = static_cast<std::uint32_t>(shape.input_type);
  call.index_type = static_cast<std::uint32_t>(shape.index_type);
  call.tokens = shape.tokens;
  call.input_row_stride = shape.row_stride;
  call.cache = pool;
  call.pages = shape.pages;
  call.page_stride = shape.page_stride;
  call.page_size = static_cast<std::int32_t>(shape.page_size);
  call.fp8_type = static_cast<std::uint32_t>(shape.fp8);
  call.index = indices;
  call.stream = stream;
  return call;
}

kvproof_store_call part_of(const kvproof_store_call& whole, std::int64_t first, std::int64_t tokens) {
  kvproof_store_call part = whole;
  part.input = static_cast<const std::uint8_t*>(whole.input) + first * whole.input_row_stride;
  part.index = static_cast<const std::uint8_t*>(whole.index) + first * index_bytes(static_cast<IndexType>(whole.index_type));
  part.tokens = tokens;
  return part;
}

}  // namespace kvproof
