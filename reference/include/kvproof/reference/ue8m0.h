// UE8M0: a power-of-two scale in one byte, 2^(byte - 127).
#pragma once

#include "kvproof/reference/f32.h"

namespace kvproof {

// ceil(log2(ratio)) + 127 by the bit rule: exponent field, plus one if any mantissa bit is set. `ratio` is non-negative.
// The rule is exact for every normal ratio. A subnormal ratio gives 1, zero gives 0, infinity 255.
KVPROOF_HD constexpr std::uint8_t f32_to_ue8m0(F32 ratio) {
  const std::uint32_t field = f32_magnitude(ratio) >> 23;
  return static_cast<std::uint8_t>(field + ((ratio & 0x007FFFFFU) != 0 ? 1U : 0U));
}

// 2^(byte - 127): byte 0 is the subnormal 2^-127. Byte 255 reads as infinity, the pattern a shift by 23 gives.
KVPROOF_HD constexpr F32 ue8m0_to_f32(std::uint8_t byte) { return byte == 0 ? 0x00400000U : static_cast<F32>(byte) << 23; }

}  // namespace kvproof
