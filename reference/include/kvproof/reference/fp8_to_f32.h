// An fp8 code to binary32: exact.
#pragma once

#include "kvproof/reference/f32.h"
#include "kvproof/reference/fp8.h"

namespace kvproof {

KVPROOF_HD constexpr F32 fp8_to_f32(std::uint8_t code, Fp8 type) {
  if (fp8_is_nan(code, type)) {
    return f32_quiet_nan;
  }
  const F32 sign = static_cast<F32>(code & 0x80U) << 24;
  const std::uint32_t field = (code >> 3) & 0xFU;
  const std::uint32_t fraction = code & 7U;
  const int smallest = fp8_smallest_exponent(type);
  if (field != 0) {
    const auto exponent = static_cast<std::uint32_t>(static_cast<int>(field) - 1 + smallest + 127);
    return sign | (exponent << 23) | (fraction << 20);
  }
  if (fraction == 0) {
    return sign;
  }
  const int shift = leading_zeros(fraction) - 28;  // brings the leading one to bit 3
  const auto exponent = static_cast<std::uint32_t>(smallest - shift + 127);
  return sign | (exponent << 23) | (((fraction << shift) & 7U) << 20);
}

}  // namespace kvproof
