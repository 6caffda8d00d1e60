// IEEE binary32 as a bit pattern. The model never holds a `float`: a pattern cannot be changed by a compiler flag, a fused
// multiply or a flush-to-zero mode.
#pragma once

#include <cstdint>

#include "kvproof/reference/bits.h"
#include "kvproof/reference/machine.h"

namespace kvproof {

using F32 = std::uint32_t;  // the bits of one binary32 value

inline constexpr F32 f32_sign_bit = 0x80000000U;
inline constexpr F32 f32_magnitude_mask = 0x7FFFFFFFU;
inline constexpr F32 f32_infinity = 0x7F800000U;
inline constexpr F32 f32_quiet_nan = 0x7FC00000U;
inline constexpr F32 f32_largest_bf16 = 0x7F7F0000U;  // 3.3895314e38, the largest finite bf16

KVPROOF_HD constexpr F32 f32_magnitude(F32 x) { return x & f32_magnitude_mask; }
KVPROOF_HD constexpr F32 f32_sign(F32 x) { return x & f32_sign_bit; }
KVPROOF_HD constexpr bool f32_is_nan(F32 x) { return f32_magnitude(x) > f32_infinity; }
KVPROOF_HD constexpr bool f32_is_infinity(F32 x) { return f32_magnitude(x) == f32_infinity; }
KVPROOF_HD constexpr bool f32_is_finite(F32 x) { return f32_magnitude(x) < f32_infinity; }

// Whether a magnitude is finite and not subnormal.
KVPROOF_HD constexpr bool f32_is_normal(F32 magnitude) { return magnitude - 0x00800000U < 0x7F000000U; }

// A finite non-zero magnitude as significand * 2^(exponent - 23), 2^23 <= significand < 2^24.
struct F32Parts {
  std::uint32_t significand;
  int exponent;
};

// Splits the magnitude of a finite non-zero `x`; subnormals come back normalised.
KVPROOF_HD constexpr F32Parts f32_split(F32 x) {
  const std::uint32_t magnitude = f32_magnitude(x);
  const int field = static_cast<int>(magnitude >> 23);
  if (field != 0) {
    return {(magnitude & 0x007FFFFFU) | 0x00800000U, field - 127};
  }
  const int shift = leading_zeros(magnitude) - 8;
  return {magnitude << shift, -126 - shift};
}

// Rounds significand * 2^(exponent - 30) to binary32, nearest-even, subnormals kept, overflow to infinity.
// 2^30 <= significand < 2^31; bit 0 is sticky (set when any lower bit of the exact value was).
KVPROOF_HD constexpr F32 f32_round_pack(F32 sign, int exponent, std::uint32_t significand) {
  if (exponent > 127) {
    return sign | f32_infinity;
  }
  if (exponent >= -126) {
    const std::uint32_t rounded = shift_right_nearest_even(significand, 7);
    // The hidden bit adds the one that the exponent field lacks; a carry out of the fraction moves to the next binade.
    const auto field = static_cast<std::uint32_t>(exponent + 126);
    return sign | ((field << 23) + rounded);
  }
  const int extra = -126 - exponent;
  if (extra > 24) {
    return sign;  // below half of the smallest subnormal
  }
  const std::uint32_t lost = significand & ((std::uint32_t{1} << extra) - 1);
  const std::uint32_t sticky = (significand >> extra) | (lost != 0 ? 1U : 0U);
  return sign | shift_right_nearest_even(sticky, 7);
}

}  // namespace kvproof
