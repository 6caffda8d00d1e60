// Whether a dialect's declared error explains a code that is not the exact one.
#pragma once

#include "kvproof/reference/quantise.h"

namespace kvproof {

// The pattern `ulp` units in the last place away in magnitude, sign kept; NaN where there is none.
KVPROOF_HD constexpr F32 f32_neighbour(F32 x, int ulp) {
  const std::int64_t magnitude = std::int64_t{f32_magnitude(x)} + ulp;
  const bool number = f32_magnitude(x) != 0 && f32_is_finite(x) && magnitude > 0 && magnitude < std::int64_t{f32_infinity};
  return number ? (x & 0x80000000U) | static_cast<F32>(magnitude) : 0x7FC00000U;
}

// Whether `code` is what a reciprocal (or, for Quantise::divide, a quotient) within dialect.reciprocal_ulp of the correctly
// rounded one gives. Exact scalings by a power of two have no such error, and NaN and infinity no such excuse.
KVPROOF_HD constexpr bool explained_by_declared_error(F32 x, const TileScale& scale, const Dialect& dialect, Fp8 type,
                                                      std::uint8_t limit_code, std::uint8_t code) {
  if (dialect.quantise == Quantise::power_of_two || !f32_is_finite(x)) {
    return false;
  }
  for (int ulp = -dialect.reciprocal_ulp; ulp <= dialect.reciprocal_ulp; ++ulp) {
    const F32 scaled = dialect.quantise == Quantise::divide ? f32_neighbour(f32_divide(x, scale.operand), ulp)
                                                            : f32_multiply(x, f32_neighbour(scale.operand, ulp));
    if (f32_is_finite(scaled) && f32_to_fp8(scaled, type, limit_code) == code) {
      return true;
    }
  }
  return false;
}

}  // namespace kvproof
