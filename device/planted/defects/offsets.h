// Byte offsets computed in 32 bits.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

// A pool past 2 GiB is written below its base.
struct OffsetInt32 : Right {
  static constexpr const char* name = "offset-int32";
  static constexpr const char* defect = "page * page stride in a signed 32-bit register";
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return narrow(Right::data_at(call, page, slot), Width::int32);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return narrow(Right::scales_at(call, page, slot), Width::int32);
  }
};

// A pool past 4 GiB is written at its front: other tokens' bytes change and nothing faults.
struct OffsetUint32 : Right {
  static constexpr const char* name = "offset-uint32";
  static constexpr const char* defect = "page * page stride in an unsigned 32-bit register";
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return narrow(Right::data_at(call, page, slot), Width::uint32);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return narrow(Right::scales_at(call, page, slot), Width::uint32);
  }
};

}  // namespace kvproof::planted
