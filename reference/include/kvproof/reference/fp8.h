// The two 8-bit formats: e4m3fn (bias 7, NaN 0x7F and 0xFF, largest 448) and e4m3fnuz (bias 8, NaN 0x80 alone, no
// negative zero, largest 240).
#pragma once

#include <cstdint>

#include "kvproof/reference/machine.h"

namespace kvproof {

enum class Fp8 : std::uint32_t { e4m3fn = 0, e4m3fnuz = 1 };

// Exponent of the smallest normal value: 2^-6 and 2^-7.
KVPROOF_HD constexpr int fp8_smallest_exponent(Fp8 type) { return type == Fp8::e4m3fn ? -6 : -7; }

// The NaN code a port writes; e4m3fn also reads 0xFF as NaN.
KVPROOF_HD constexpr std::uint8_t fp8_nan(Fp8 type) { return type == Fp8::e4m3fn ? 0x7F : 0x80; }

KVPROOF_HD constexpr bool fp8_is_nan(std::uint8_t code, Fp8 type) {
  return type == Fp8::e4m3fn ? (code & 0x7FU) == 0x7FU : code == 0x80U;
}

// The code of +`limit`, the largest magnitude a port scales to: 448 for e4m3fn, 240 or 224 for e4m3fnuz. 0 for any other.
KVPROOF_HD constexpr std::uint8_t fp8_limit_code(Fp8 type, int limit) {
  if (type == Fp8::e4m3fn) {
    return limit == 448 ? 0x7E : 0x00;
  }
  return limit == 240 ? 0x7F : (limit == 224 ? 0x7E : 0x00);
}

// `code` with its sign turned; e4m3fnuz zero has none.
KVPROOF_HD constexpr std::uint8_t fp8_negate(std::uint8_t code, Fp8 type) {
  if (type == Fp8::e4m3fnuz && (code & 0x7FU) == 0) {
    return code;
  }
  return static_cast<std::uint8_t>(code ^ 0x80U);
}

}  // namespace kvproof
