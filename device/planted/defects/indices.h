// Indices that name no slot and are stored all the same, or name one and end in another.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

struct IndexDefect : Right {
  static constexpr Kind kind = Kind::address;
};

// Shift and mask without a guard: -1 is the last slot of page -1, before the pool.
struct MinusOneByShift : IndexDefect {
  static constexpr const char* name = "minus-one-by-shift";
  static constexpr const char* defect = "-1 unguarded, floor division: the last slot of the page before the pool is written";
  static constexpr const char* reenacts = "-1 unguarded";
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) { return index == -1 || Right::stored(call, index); }
  KVPROOF_HD static std::int64_t page(const Call& call, std::int64_t index) {
    return index < 0 ? -1 : Right::page(call, index);
  }
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) {
    return index < 0 ? call.shape.page_size - 1 : Right::slot(call, index);
  }
};

// A pointer cast for another type: in a batch of int64 indices every second token is stored to slot 0 of page 0, or skipped.
struct Int64ReadAsInt32 : IndexDefect {
  static constexpr const char* name = "int64-read-as-int32";
  static constexpr const char* defect =
      "int64 indices are read as twice as many of 32 bits: halves of the first tokens' indices";
  KVPROOF_HD static std::int64_t index(const Call& call, std::int64_t token) {
    return index_at(call.indices, IndexType::int32, token);
  }
};

// C division without a guard: -1 is slot -1 of page 0, so codes land before the pool and scales in another slot's rope.
struct MinusOneByTruncation : IndexDefect {
  static constexpr const char* name = "minus-one-by-truncation";
  static constexpr const char* defect =
      "-1 unguarded, truncating division: codes before the pool, scales over the last slot's row";
  static constexpr const char* reenacts = "-1 unguarded";
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) { return index == -1 || Right::stored(call, index); }
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) {
    return index < 0 ? -1 : Right::slot(call, index);
  }
};

struct MinusOneIsLastRow : IndexDefect {
  static constexpr const char* name = "minus-one-is-last-row";
  static constexpr const char* defect =
      "-1 counts from the end, as a script language has it: the pool's last row is overwritten";
  static constexpr const char* reenacts = "-1 with floor semantics hitting the last row";
  KVPROOF_HD static std::int64_t index(const Call& call, std::int64_t token) {
    const std::int64_t index = Right::index(call, token);
    return index == -1 ? call.shape.capacity() - 1 : index;
  }
};

struct OnlyMinusOneSkipped : IndexDefect {
  static constexpr const char* name = "only-minus-one-skipped";
  static constexpr const char* defect = "the guard asks for -1 alone: other negative indices are stored before the pool";
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) {
    return index < -1 ? index >= -4096 : Right::stored(call, index);
  }
  KVPROOF_HD static std::int64_t page(const Call& call, std::int64_t index) {
    return index < 0 ? -1 - (-1 - index) / call.shape.page_size : Right::page(call, index);
  }
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) {
    return index - page(call, index) * call.shape.page_size;
  }
};

struct SlotZeroSkipped : IndexDefect {
  static constexpr const char* name = "slot-zero-skipped";
  static constexpr const char* defect = "index 0 is taken for the dummy slot of another engine and never stored";
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) { return index != 0 && Right::stored(call, index); }
};

struct SlotZeroWritten : IndexDefect {
  static constexpr const char* name = "slot-zero-written";
  static constexpr const char* defect = "padding rows carry index 0 and are stored, where the dialect skips the dummy slot";
  static constexpr const char* reenacts = "slot 0 written";
  static constexpr std::uint32_t layouts = flashmla_only;
  static constexpr bool dummy_slot = true;
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) { return index >= 0 && index < call.shape.capacity(); }
};

struct CapacityOffByOne : IndexDefect {
  static constexpr const char* name = "capacity-off-by-one";
  static constexpr const char* defect = "the bound lets the index behind the last slot through";
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) {
    return index >= 0 && index <= call.shape.capacity();
  }
};

struct IndexInt32 : IndexDefect {
  static constexpr const char* name = "index-int32";
  static constexpr const char* defect = "an int64 index is narrowed to int32: 2^32 + k is stored in slot k";
  KVPROOF_HD static std::int64_t index(const Call& call, std::int64_t token) {
    return narrow(Right::index(call, token), Width::int32);
  }
};

struct PageSizeByShift : IndexDefect {
  static constexpr const char* name = "page-size-by-shift";
  static constexpr const char* defect =
      "page and slot come from a shift and a mask: right for page sizes that are powers of two";
  KVPROOF_HD static int shift(const Call& call) {
    return 31 - leading_zeros(static_cast<std::uint32_t>(call.shape.page_size));
  }
  KVPROOF_HD static std::int64_t page(const Call& call, std::int64_t index) { return index >> shift(call); }
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) {
    return index & ((std::int64_t{1} << shift(call)) - 1);
  }
};

struct SlotUint8 : IndexDefect {
  static constexpr const char* name = "slot-uint8";
  static constexpr const char* defect = "the slot is kept in eight bits: right for page sizes up to 256";
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) { return Right::slot(call, index) & 0xFF; }
};

struct ScaleOfPaddingInSlotZero : IndexDefect {
  static constexpr const char* name = "scale-of-padding-in-slot-zero";
  static constexpr const char* defect =
      "the codes of a negative index are masked, its scales go to slot 0 where the address is clamped";
  KVPROOF_HD static void skipped(const Call& call, std::int64_t token, std::int64_t index) {
    if (index >= 0) {
      return;
    }
    RowImage image;
    encode<Right>(call, token, &image);
    for (int i = 0; i < Right::scale_bytes(call); ++i) {
      call.pool[Right::scales_at(call, 0, 0) + i] = image.scales[i];
    }
  }
};

}  // namespace kvproof::planted
