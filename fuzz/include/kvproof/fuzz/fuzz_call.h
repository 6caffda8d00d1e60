// A store call as the fuzzers change it: choices by class, so that a change of one of them is a change of meaning.
#pragma once

#include <cstdint>
#include <vector>

#include "kvproof/properties/values.h"

namespace kvproof::fuzz {

// Where a token's index points. `number` picks among those of a class.
enum class IndexClass : std::uint8_t {
  zero,            // the dummy slot
  slot,            // any of the pool
  page_first,      // the first slot of a page
  page_last,       // the last slot of a page
  last,            // the last slot of the pool
  again,           // the index of an earlier token
  across_2_31,     // a slot about where slot * stride passes 2^31 bytes, in pools that reach so far
  across_2_32,     // the same of 2^32
  minus_one,       // "no page"
  below,           // within two pages before the pool
  capacity,        // last + 1
  beyond,          // within two pages after the pool
  int32_smallest,  // the ends of int32
  int32_largest,
  two_31,          // 2^31: negative in a kernel that narrows
  alias_above,     // 2^32 + a slot, which such a kernel takes for the slot
  alias_below,     // a slot - 2^32
  int64_smallest,  // the ends of int64
  int64_largest
};
inline constexpr std::size_t index_classes = 19;

// The bytes from one page to the next. `number` is what it adds, in the unit of the class.
enum class PageStride : std::uint8_t {
  production,       // as engines allocate
  smallest,         // no tail
  smallest_by_4,    // a tail of a few words
  smallest_by_16,   // the same, and pages stay aligned
  production_more,  // a tail of whole 576-byte rows
  packed_layers,    // about 1 MB: a cache that packs layers page by page
  page_across,      // some page lies across 2, 4 or 8 GiB
  gibibyte,         // few pages, far apart
  two_gibibytes     // the stride itself does not fit int32
};
inline constexpr std::size_t page_strides = 9;
inline constexpr bool is_far(PageStride stride) { return stride >= PageStride::packed_layers; }

// The bytes from one input row to the next.
enum class RowStride : std::uint8_t {
  packed,
  by_16,      // a gap that keeps rows aligned
  by_element  // a gap that does not
};
inline constexpr std::size_t row_strides = 3;

struct FuzzToken {
  IndexClass index = IndexClass::zero;
  std::uint16_t number = 0;
  ValueClass values = ValueClass::zeros;
  std::uint8_t row = 0;  // which of the rows of that class

  friend bool operator==(const FuzzToken&, const FuzzToken&) = default;
};

// Fields that choose from a list of the kernel's are taken modulo its length, so that any value is one.
struct FuzzCall {
  static constexpr std::size_t most_tokens = 32;

  std::uint8_t kernel = 0;      // of those that a target has
  std::uint8_t input_type = 0;  // of those that the kernel takes
  std::uint8_t index_type = 0;
  std::uint8_t fp8 = 0;
  std::uint8_t page_size = 0;
  std::uint8_t pages = 0;
  PageStride page_stride = PageStride::production;
  std::uint16_t page_stride_number = 0;
  RowStride row_stride = RowStride::packed;
  std::uint8_t row_stride_number = 0;
  std::uint16_t poison = 0;
  std::vector<FuzzToken> tokens;

  friend bool operator==(const FuzzCall&, const FuzzCall&) = default;
};

}  // namespace kvproof::fuzz
