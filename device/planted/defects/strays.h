// Bytes written that are no token's.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

struct Stray : Right {
  static constexpr Kind kind = Kind::address;
};

struct TailWriter : Stray {
  static constexpr const char* name = "tail-writer";
  static constexpr const char* defect = "the first byte of the page's tail is cleared where there is a tail";
  static constexpr const char* reenacts = "pad byte or tail written";
  KVPROOF_HD static void after(const Call& call, std::int64_t, std::int64_t page, std::int64_t) {
    const std::int64_t used = smallest_page_stride(call.shape.layout, call.shape.page_size);
    if (used < call.shape.page_stride) {
      call.pool[page * call.shape.page_stride + used] = 0;
    }
  }
};

// Of the FlashMLA layout; the indexer has no pad byte, and there the byte is the next slot's.
struct PadWriter : Stray {
  static constexpr const char* name = "pad-writer";
  static constexpr const char* defect = "the byte behind the scales is cleared: the pad byte, or the next slot's scale";
  static constexpr const char* reenacts = "pad byte or tail written";
  KVPROOF_HD static void after(const Call& call, std::int64_t, std::int64_t page, std::int64_t slot) {
    call.pool[Right::scales_at(call, page, slot) + Right::scale_bytes(call)] = 0;
  }
};

struct InputWriter : Stray {
  static constexpr const char* name = "input-writer";
  static constexpr const char* defect = "the first value of each stored row is changed in the input";
  KVPROOF_HD static void after(const Call& call, std::int64_t token, std::int64_t, std::int64_t) {
    const_cast<std::uint8_t*>(Right::row(call, token))[0] ^= 1;
  }
};

struct IndexWriter : Stray {
  static constexpr const char* name = "index-writer";
  static constexpr const char* defect = "an index beyond the pool is replaced by -1 in the caller's array";
  KVPROOF_HD static void skipped(const Call& call, std::int64_t token, std::int64_t index) {
    const int bytes = index_bytes(call.shape.index_type);
    for (int i = 0; index >= call.shape.capacity() && i < bytes; ++i) {
      const_cast<std::uint8_t*>(call.indices)[token * bytes + i] = 0xFF;
    }
  }
};

// A batch that fills the page in order hides it.
struct PageClearedBySlotZero : Stray {
  static constexpr const char* name = "page-cleared-by-slot-zero";
  static constexpr const char* defect = "a row for slot 0 counts as the start of a new page, whose other scales are cleared";
  KVPROOF_HD static void after(const Call& call, std::int64_t, std::int64_t page, std::int64_t slot) {
    const std::int64_t end = Right::scales_at(call, page, call.shape.page_size);
    for (std::int64_t at = Right::scales_at(call, page, 1); slot == 0 && at < end; ++at) {
      call.pool[at] = 0;
    }
  }
};

}  // namespace kvproof::planted
