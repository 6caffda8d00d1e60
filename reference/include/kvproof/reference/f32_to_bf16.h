// binary32 to bf16, nearest-even, subnormals kept, overflow to infinity.
#pragma once

#include "kvproof/reference/f32.h"

namespace kvproof {

// NaN stays NaN: sign and upper payload bits are kept and the quiet bit is set.
KVPROOF_HD constexpr std::uint16_t f32_to_bf16(F32 x) {
  if (f32_is_nan(x)) {
    return static_cast<std::uint16_t>((x >> 16) | 0x0040U);
  }
  const std::uint32_t rounded = f32_magnitude(x) + 0x7FFFU + ((x >> 16) & 1U);
  return static_cast<std::uint16_t>((f32_sign(x) | rounded) >> 16);
}

}  // namespace kvproof
