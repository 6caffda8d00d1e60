// fl(a / b): one IEEE binary32 division, nearest-even, subnormals kept.
#pragma once

#include "kvproof/reference/f32.h"

namespace kvproof {

// Any NaN result (0/0, inf/inf, NaN operand) is the one pattern f32_quiet_nan.
KVPROOF_HD constexpr F32 f32_divide(F32 a, F32 b) {
  const F32 sign = f32_sign(a ^ b);
  const F32 a_magnitude = f32_magnitude(a);
  const F32 b_magnitude = f32_magnitude(b);
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
