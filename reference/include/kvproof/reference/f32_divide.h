// fl(a / b): one IEEE binary32 division, nearest-even, subnormals kept.
#pragma once

#include "kvproof/reference/f32.h"

namespace kvproof {

// Any NaN result (0/0, inf/inf, NaN operand) is the one pattern f32_quiet_nan.
KVPROOF_HD constexpr F32 f32_divide(F32 a, F32 b) {
  const F32 sign = f32_sign(a ^ b);
  const F32 a_magnitude = f32_magnitude(a);
  const F32 b_magnitude = f32_magnitude(b);
  if (f32_is_normal(a_magnitude) && f32_is_normal(b_magnitude)) {
    const std::uint32_t dividend = (a_magnitude & 0x007FFFFFU) | 0x00800000U;
    const std::uint32_t divisor = (b_magnitude & 0x007FFFFFU) | 0x00800000U;
    const int borrow = dividend < divisor ? 1 : 0;
    const int exponent = static_cast<int>(a_magnitude >> 23) - static_cast<int>(b_magnitude >> 23) + 127 - borrow;
    if (exponent > 0 && exponent < 255) {
      const std::uint64_t numerator = static_cast<std::uint64_t>(dividend) << (24 + borrow);
      const std::uint64_t quotient = numerator / divisor;  // in [2^24, 2^25): one bit more than the fraction keeps
      // A quotient of 24-bit significands never ends in exactly that bit, so half way needs no look at the even neighbour.
      const auto rounded = static_cast<std::uint32_t>((quotient + 1) >> 1);
      return sign | ((static_cast<std::uint32_t>(exponent - 1) << 23) + rounded);
    }
  }
  if (f32_is_nan(a) || f32_is_nan(b) || (a_magnitude == b_magnitude && (a_magnitude == 0 || a_magnitude == f32_infinity))) {
    return f32_quiet_nan;
  }
  if (a_magnitude == f32_infinity || b_magnitude == 0) {
    return sign | f32_infinity;
  }
  if (a_magnitude == 0 || b_magnitude == f32_infinity) {
    return sign;
  }
  const F32Parts x = f32_split(a);
  const F32Parts y = f32_split(b);
  const int borrow = x.significand < y.significand ? 1 : 0;
  const std::uint64_t numerator = static_cast<std::uint64_t>(x.significand) << (30 + borrow);
  const std::uint64_t quotient = numerator / y.significand;  // in [2^30, 2^31)
  const bool inexact = quotient * y.significand != numerator;
  const auto significand = static_cast<std::uint32_t>(quotient) | (inexact ? 1U : 0U);
  return f32_round_pack(sign, x.exponent - y.exponent - borrow, significand);
}

}  // namespace kvproof
