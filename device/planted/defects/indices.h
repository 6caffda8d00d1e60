// Indices that no page holds, stored all the same.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

// Shift and mask without a guard: -1 is the last slot of page -1, before the pool.
struct MinusOneByShift : Right {
  static constexpr const char* name = "minus-one-by-shift";
  static constexpr const char* defect = "-1 unguarded, floor division: the last slot of the page before the pool is written";
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) { return index == -1 || Right::stored(call, index); }
  KVPROOF_HD static std::int64_t page(const Call& call, std::int64_t index) {
    return index < 0 ? -1 : Right::page(call, index);
  }
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) {
    return index < 0 ? call.shape.page_size - 1 : Right::slot(call, index);
  }
};

// C division without a guard: -1 is slot -1 of page 0, so codes land before the pool and scales in another slot's rope.
struct MinusOneByTruncation : Right {
  static constexpr const char* name = "minus-one-by-truncation";
  static constexpr const char* defect =
      "-1 unguarded, truncating division: codes before the pool, scales over the last slot's row";
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) { return index == -1 || Right::stored(call, index); }
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) {
    return index < 0 ? -1 : Right::slot(call, index);
  }
};

}  // namespace kvproof::planted
