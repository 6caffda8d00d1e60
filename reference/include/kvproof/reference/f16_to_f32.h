// IEEE binary16 to binary32: exact; NaN payloads move to the upper fraction bits.
#pragma once

#include "kvproof/reference/f32.h"

namespace kvproof {

KVPROOF_HD constexpr F32 f16_to_f32(std::uint16_t bits) {
  const F32 sign = static_cast<F32>(bits & 0x8000U) << 16;
  const std::uint32_t field = (bits >> 10) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (field == 0x1F) {
    return sign | f32_infinity | (fraction << 13);
  }
  if (field != 0) {
    return sign | ((field + 112) << 23) | (fraction << 13);
  }
  if (fraction == 0) {
    return sign;
  }
  const int shift = leading_zeros(fraction) - 21;  // brings the leading one to bit 10
  const auto exponent = static_cast<std::uint32_t>(113 - shift);
  return sign | (exponent << 23) | (((fraction << shift) & 0x3FFU) << 13);
}

}  // namespace kvproof
