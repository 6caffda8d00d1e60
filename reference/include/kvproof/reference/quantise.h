// From an element and its tile's scale to a code.
#pragma once

#include "kvproof/reference/f32_to_fp8.h"
#include "kvproof/reference/scale.h"

namespace kvproof {

// How an element enters amax: NaN not at all (0), infinity as the dialect says.
KVPROOF_HD constexpr F32 amax_contribution(F32 x, Infinity infinity) {
  const F32 magnitude = f32_magnitude(x);
  if (magnitude < f32_infinity) {
    return magnitude;
  }
  if (magnitude > f32_infinity) {
    return 0;
  }
  return infinity == Infinity::as_largest_bf16 ? f32_largest_bf16 : f32_infinity;
}

// The code a dialect gives to a NaN.
KVPROOF_HD constexpr std::uint8_t nan_code(const Dialect& dialect, Fp8 type, std::uint8_t limit_code) {
  switch (dialect.nan) {
    case NanCode::plus_max:
      return limit_code;
    case NanCode::minus_max:
      return fp8_negate(limit_code, type);
    case NanCode::zero:
      return 0;
    case NanCode::nan:
    case NanCode::unstated:
      break;
  }
  return fp8_nan(type);
}

// x * 2^-shift, exactly, to a code. Infinities saturate; `x` is no NaN.
KVPROOF_HD constexpr std::uint8_t quantise_power_of_two(F32 x, int shift, Fp8 type, std::uint8_t limit_code) {
  const F32 magnitude = f32_magnitude(x);
  std::uint32_t code = 0;
  if (magnitude >= 0x00800000U) {
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const std::uint32_t significand = (magnitude & 0x007FFFFFU) | 0x00800000U;
    code = magnitude >= f32_infinity ? limit_code
                                     : fp8_round(significand, exponent - shift, fp8_smallest_exponent(type), limit_code);
  } else if (magnitude != 0) {
    const F32Parts parts = f32_split(magnitude);
    code = fp8_round(parts.significand, parts.exponent - shift, fp8_smallest_exponent(type), limit_code);
  }
  return fp8_with_sign(f32_sign(x), code, type);
}

// One element of a tile whose scale is `scale`, for a rule known where this is called: a loop over a tile then holds no
// other rule's code.
template <Quantise rule>
KVPROOF_HD constexpr std::uint8_t quantise_by(F32 x, const TileScale& scale, const Dialect& dialect, Fp8 type,
                                              std::uint8_t limit_code) {
  if (f32_is_nan(x)) {
    return nan_code(dialect, type, limit_code);
  }
  const F32 scaled = rule == Quantise::divide ? f32_divide(x, scale.operand) : f32_multiply(x, scale.operand);
  if (f32_is_finite(scaled)) {
    return f32_to_fp8(scaled, type, limit_code);
  }
  if (f32_is_infinity(x) && dialect.infinity == Infinity::as_largest_bf16) {
    return fp8_with_sign(f32_sign(x), limit_code, type);
  }
  return f32_is_nan(scaled) ? nan_code(dialect, type, limit_code) : f32_to_fp8(scaled, type, limit_code);
}

// x * 2^-shift of any x.
KVPROOF_HD constexpr std::uint8_t quantise_by_shift(F32 x, const TileScale& scale, const Dialect& dialect, Fp8 type,
                                                    std::uint8_t limit_code) {
  return f32_is_nan(x) ? nan_code(dialect, type, limit_code) : quantise_power_of_two(x, scale.shift, type, limit_code);
}

// One element of a tile whose scale is `scale`.
KVPROOF_HD constexpr std::uint8_t quantise(F32 x, const TileScale& scale, const Dialect& dialect, Fp8 type,
                                           std::uint8_t limit_code) {
  if (scale.exact_shift) {
    return quantise_by_shift(x, scale, dialect, type, limit_code);
  }
  return dialect.quantise == Quantise::divide
             ? quantise_by<Quantise::divide>(x, scale, dialect, type, limit_code)
             : quantise_by<Quantise::multiply_reciprocal>(x, scale, dialect, type, limit_code);
}

}  // namespace kvproof
