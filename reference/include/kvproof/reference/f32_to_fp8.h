// binary32 to an fp8 code: nearest-even, saturating at the port's limit.
#pragma once

#include "kvproof/reference/f32.h"
#include "kvproof/reference/fp8.h"

namespace kvproof {

// The magnitude code of significand * 2^(exponent - 23), 2^23 <= significand < 2^24, capped at `limit_code`.
KVPROOF_HD constexpr std::uint32_t fp8_round(std::uint32_t significand, int exponent, int smallest_exponent,
                                             std::uint32_t limit_code) {
  if (exponent > smallest_exponent + 15) {
    return limit_code;
  }
  if (exponent >= smallest_exponent) {
    const auto field = static_cast<std::uint32_t>(exponent - smallest_exponent);
    const std::uint32_t code = shift_right_nearest_even((field << 23) + significand, 20);
    return code < limit_code ? code : limit_code;
  }
  const int shift = 20 + smallest_exponent - exponent;
  return shift > 24 ? 0U : shift_right_nearest_even(significand, shift);
}

// A magnitude code with its sign: e4m3fn keeps -0 as 0x80, e4m3fnuz has one zero.
KVPROOF_HD constexpr std::uint8_t fp8_with_sign(F32 sign, std::uint32_t magnitude_code, Fp8 type) {
  if (type == Fp8::e4m3fnuz && magnitude_code == 0) {
    return 0;
  }
  return static_cast<std::uint8_t>(magnitude_code | (sign >> 24));
}

// Any pattern: infinities saturate, NaN becomes the type's NaN code.
// `limit_code` is the code of the largest magnitude (fp8_limit_code).
KVPROOF_HD constexpr std::uint8_t f32_to_fp8(F32 x, Fp8 type, std::uint8_t limit_code) {
  if (f32_is_nan(x)) {
    return fp8_nan(type);
  }
  const F32 magnitude = f32_magnitude(x);
  if (magnitude < 0x00800000U) {  // subnormals lie far below half of the smallest code
    return fp8_with_sign(f32_sign(x), 0, type);
  }
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const std::uint32_t significand = (magnitude & 0x007FFFFFU) | 0x00800000U;
  return fp8_with_sign(f32_sign(x), fp8_round(significand, exponent, fp8_smallest_exponent(type), limit_code), type);
}

}  // namespace kvproof
