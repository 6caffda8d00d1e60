// fl(a * b): one IEEE binary32 multiplication, nearest-even, subnormals kept.
#pragma once

#include "kvproof/reference/f32.h"

namespace kvproof {

// Any NaN result is the one pattern f32_quiet_nan: payloads never reach a code.
KVPROOF_HD constexpr F32 f32_multiply(F32 a, F32 b) {
  const F32 sign = f32_sign(a ^ b);
  const F32 a_magnitude = f32_magnitude(a);
  const F32 b_magnitude = f32_magnitude(b);
  if (f32_is_normal(a_magnitude) && f32_is_normal(b_magnitude)) {
    const std::uint64_t product = static_cast<std::uint64_t>((a_magnitude & 0x007FFFFFU) | 0x00800000U) *
                                  ((b_magnitude & 0x007FFFFFU) | 0x00800000U);  // in [2^46, 2^48)
    const int carry = static_cast<int>(product >> 47);
    const int exponent = static_cast<int>(a_magnitude >> 23) + static_cast<int>(b_magnitude >> 23) - 127 + carry;
    if (exponent > 0 && exponent < 255) {
      const int shift = 23 + carry;
      const std::uint64_t below_half = (std::uint64_t{1} << (shift - 1)) - 1;
      const std::uint64_t rounded = (product + below_half + ((product >> shift) & 1U)) >> shift;
      // The hidden bit counts one exponent, so the field goes in less one; a carry out of the fraction goes on to infinity.
      return sign | ((static_cast<std::uint32_t>(exponent - 1) << 23) + static_cast<std::uint32_t>(rounded));
    }
  }
  if (a_magnitude >= f32_infinity || b_magnitude >= f32_infinity) {
    if (f32_is_nan(a) || f32_is_nan(b) || a_magnitude == 0 || b_magnitude == 0) {
      return f32_quiet_nan;
    }
    return sign | f32_infinity;
  }
  if (a_magnitude == 0 || b_magnitude == 0) {
    return sign;
  }
  const F32Parts x = f32_split(a);
  const F32Parts y = f32_split(b);
  const std::uint64_t product = static_cast<std::uint64_t>(x.significand) * y.significand;  // in [2^46, 2^48)
  const int carry = static_cast<int>(product >> 47);
  const int shift = 16 + carry;
  const std::uint64_t lost = product & ((std::uint64_t{1} << shift) - 1);
  const auto significand = static_cast<std::uint32_t>(product >> shift) | (lost != 0 ? 1U : 0U);
  return f32_round_pack(sign, x.exponent + y.exponent + carry, significand);
}

}  // namespace kvproof
