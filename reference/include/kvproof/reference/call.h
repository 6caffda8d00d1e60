// One store call, as the model sees it: shapes in tokens, pages and bytes. The C interface of a kernel under test carries
// the same fields.
#pragma once

#include <cstdint>

#include "kvproof/reference/element.h"
#include "kvproof/reference/fp8.h"
#include "kvproof/reference/layout.h"
#include "kvproof/reference/locate.h"

namespace kvproof {

struct StoreShape {
  Layout layout = Layout::flashmla;
  ElementType input_type = ElementType::bf16;
  IndexType index_type = IndexType::int64;
  Fp8 fp8 = Fp8::e4m3fn;
  std::int64_t tokens = 0;
  std::int64_t row_stride = 0;  // bytes from one input row to the next
  std::int64_t pages = 0;
  std::int64_t page_size = 0;    // tokens a page
  std::int64_t page_stride = 0;  // bytes from one page to the next

  friend bool operator==(const StoreShape&, const StoreShape&) = default;

  KVPROOF_HD constexpr std::int64_t capacity() const { return pages * page_size; }
  KVPROOF_HD constexpr std::int64_t pool_bytes() const { return pages * page_stride; }
  KVPROOF_HD constexpr std::int64_t row_bytes() const {
    return static_cast<std::int64_t>(layout_shape(layout).row_values) * element_bytes(input_type);
  }
  // Bytes of the input: the last row ends with its last value, not with its stride.
  KVPROOF_HD constexpr std::int64_t input_bytes() const { return tokens == 0 ? 0 : (tokens - 1) * row_stride + row_bytes(); }
  KVPROOF_HD constexpr std::int64_t indices_bytes() const { return tokens * index_bytes(index_type); }
};

}  // namespace kvproof
