// From a tile's amax to its scale.
//
//   a     = max(amax, floor)                      when the floor is on amax
//   ratio = fl(a / M)  or  fl(a * fl(1 / M))
//   ratio = max(ratio, floor)                     when the floor is on the ratio
//   UE8M0: byte = ceil(log2(ratio)) + 127         fp32: s = ratio, or rounded up to a power of two
#pragma once

#include "kvproof/reference/dialect.h"
#include "kvproof/reference/f32_divide.h"
#include "kvproof/reference/f32_multiply.h"
#include "kvproof/reference/ue8m0.h"

namespace kvproof {

// The scale of one tile and what its elements are quantised with.
struct TileScale {
  F32 stored;        // UE8M0: the byte, zero-extended; fp32: the pattern
  F32 operand;       // what Quantise works with: 2^-e or fl(1 / s) or fl(M / a) to multiply by, or s to divide by
  int shift;         // Quantise::power_of_two of a finite tile: e
  bool exact_shift;  // whether `shift` holds and an element is exactly x * 2^-shift
};

// The ratio of a finite or infinite amax.
KVPROOF_HD constexpr F32 tile_ratio(F32 floored_amax, const Dialect& dialect, Fp8 type) {
  const F32 limit = dialect_limit_f32(dialect, type);
  const F32 ratio = dialect.ratio == Ratio::divide ? f32_divide(floored_amax, limit)
                                                   : f32_multiply(floored_amax, f32_divide(0x3F800000U, limit));
  // Non-negative patterns order as their values do.
  return dialect.floor == Floor::ratio && ratio < dialect.floor_value ? dialect.floor_value : ratio;
}

// `amax` is the largest magnitude of the tile's elements, NaN left out; 0 for a tile of nothing but NaN.
KVPROOF_HD constexpr TileScale tile_scale(F32 amax, const Dialect& dialect, Fp8 type) {
  const F32 floored = dialect.floor == Floor::amax && amax < dialect.floor_value ? dialect.floor_value : amax;
  const F32 ratio = tile_ratio(floored, dialect, type);
  const bool infinite = f32_is_infinity(amax);
  const std::uint8_t byte =
      infinite && dialect.infinity == Infinity::zero_inverse_byte_126 ? std::uint8_t{126} : f32_to_ue8m0(ratio);
  TileScale result{};
  F32 value = ratio;
  if (dialect.scale == Scale::ue8m0) {
    result.stored = byte;
    value = infinite ? f32_infinity : ue8m0_to_f32(byte);
  } else {
    value = dialect.scale == Scale::fp32 || infinite ? ratio : ue8m0_to_f32(byte);
    result.stored = value;
  }
  switch (dialect.quantise) {
    case Quantise::power_of_two:
      if (!infinite) {
        result.shift = static_cast<int>(byte) - 127;
        result.exact_shift = true;
      } else if (dialect.infinity == Infinity::zero_inverse_byte_126 || dialect.scale != Scale::ue8m0) {
        result.operand = 0;
      } else {
        result.operand = (254U - 255U) << 23;  // the shift that a port builds 2^-e with runs into the sign bit: -inf
      }
      break;
    case Quantise::multiply_reciprocal:
      result.operand = f32_divide(0x3F800000U, value);
      break;
    case Quantise::divide:
      result.operand = value;
      break;
    case Quantise::multiply_limit_over_amax:
      result.operand = f32_divide(dialect_limit_f32(dialect, type), floored);
      break;
  }
  return result;
}

// Whether a tile's scale, and what its elements are multiplied or divided by, are normal numbers. A scale of 0 makes NaN of
// zeros, one below 2^-126 has lost bits: both take a dialect without a floor, or with one far below those of public ports.
KVPROOF_HD constexpr bool can_divide(F32 amax, const Dialect& dialect, Fp8 type) {
  const TileScale scale = tile_scale(amax, dialect, type);
  const F32 stored = dialect.scale == Scale::ue8m0 ? ue8m0_to_f32(static_cast<std::uint8_t>(scale.stored)) : scale.stored;
  return f32_is_normal(stored) && (scale.exact_shift || f32_is_normal(scale.operand));
}

// Whether codes are values over the scale that is stored with them, so that code times scale is what was stored.
KVPROOF_HD constexpr bool divides_by_stored_scale(const Dialect& dialect) {
  return dialect.quantise != Quantise::multiply_limit_over_amax ||
         (dialect.scale == Scale::fp32 && dialect.floor != Floor::ratio);
}

}  // namespace kvproof
