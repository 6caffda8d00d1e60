// Bytes written that are no token's.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

struct TailWriter : Right {
  static constexpr const char* name = "tail-writer";
  static constexpr const char* defect = "the first byte of the page's tail is cleared where there is a tail";
  KVPROOF_HD static void after(const Call& call, std::int64_t, std::int64_t page, std::int64_t) {
    const std::int64_t used = smallest_page_stride(call.shape.layout, call.shape.page_size);
    if (used < call.shape.page_stride) {
      call.pool[page * call.shape.page_stride + used] = 0;
    }
  }
};

// Of the FlashMLA layout; the indexer has no pad byte, and there the byte is the next slot's.
struct PadWriter : Right {
  static constexpr const char* name = "pad-writer";
  static constexpr const char* defect = "the byte behind the scales is cleared: the pad byte, or the next slot's scale";
  KVPROOF_HD static void after(const Call& call, std::int64_t, std::int64_t page, std::int64_t slot) {
    call.pool[Right::scales_at(call, page, slot) + Right::scale_bytes(call)] = 0;
  }
};

struct InputWriter : Right {
  static constexpr const char* name = "input-writer";
  static constexpr const char* defect = "the first value of each stored row is changed in the input";
  KVPROOF_HD static void after(const Call& call, std::int64_t token, std::int64_t, std::int64_t) {
    const_cast<std::uint8_t*>(Right::row(call, token))[0] ^= 1;
  }
};

}  // namespace kvproof::planted
