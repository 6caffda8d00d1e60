// Byte offsets computed in 32 bits. Only pools of gigabytes show them.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

struct OffsetDefect : Right {
  static constexpr Kind kind = Kind::address;
  static constexpr const char* seen_by = "far_rows_land";
};

// A pool past 2 GiB is written below its base.
struct OffsetInt32 : OffsetDefect {
  static constexpr const char* name = "offset-int32";
  static constexpr const char* defect = "page * page stride in a signed 32-bit register";
  static constexpr const char* reenacts = "int32 page * stride";
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return narrow(Right::data_at(call, page, slot), Width::int32);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return narrow(Right::scales_at(call, page, slot), Width::int32);
  }
};

// A pool past 4 GiB is written at its front: other tokens' bytes change and nothing faults.
struct OffsetUint32 : OffsetDefect {
  static constexpr const char* name = "offset-uint32";
  static constexpr const char* defect = "page * page stride in an unsigned 32-bit register";
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return narrow(Right::data_at(call, page, slot), Width::uint32);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return narrow(Right::scales_at(call, page, slot), Width::uint32);
  }
};

struct ScalePlaneUint32 : OffsetDefect {
  static constexpr const char* name = "scale-plane-uint32";
  static constexpr const char* defect = "the scale plane alone is addressed in an unsigned 32-bit register: codes are right";
  static constexpr const char* reenacts = "uint32 scale plane";
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return OffsetUint32::scales_at(call, page, slot);
  }
};

// Twice as far as the codes': between 2 and 4 GiB such a rope is right.
struct RopeViewInt32 : OffsetDefect {
  static constexpr const char* name = "rope-view-int32";
  static constexpr const char* defect = "the rope is addressed through a 2-byte view in a signed 32-bit register";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static std::int64_t byte_at(const Call& call, std::int64_t page, std::int64_t slot, int i) {
    const std::int64_t data = data_offset(call.shape.layout, slot);
    return i < 448 ? i
                   : byte_offset(page, call.shape.page_stride, data + i, 2, Width::int32) - Right::data_at(call, page, slot);
  }
};

struct StrideInt32 : OffsetDefect {
  static constexpr const char* name = "stride-int32";
  static constexpr const char* defect = "the page stride is taken as an int32 argument: wrong from strides of 2 GiB on";
  static constexpr const char* reenacts = "int32 stride argument";
  KVPROOF_HD static std::int64_t wrong_by(const Call& call, std::int64_t page) {
    return page * (narrow(call.shape.page_stride, Width::int32) - call.shape.page_stride);
  }
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return Right::data_at(call, page, slot) + wrong_by(call, page);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return Right::scales_at(call, page, slot) + wrong_by(call, page);
  }
};

}  // namespace kvproof::planted
