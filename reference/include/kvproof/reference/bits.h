// Bit-level helpers that every operation of the model shares.
#pragma once

#include <cstdint>

#include "kvproof/reference/machine.h"

namespace kvproof {

// Number of leading zero bits of `value`; 32 for zero.
KVPROOF_HD constexpr int leading_zeros(std::uint32_t value) {
  if (value == 0) {
    return 32;
  }
  int count = 0;
  for (int step = 16; step != 0; step /= 2) {
    if ((value >> (32 - step)) == 0) {
      count += step;
      value <<= step;
    }
  }
  return count;
}

// `value` * 2^-`shift`, rounded to nearest, ties to even. 1 <= shift <= 31; `value` must leave room for the carry
// (value + 2^(shift-1) fits in 32 bits).
KVPROOF_HD constexpr std::uint32_t shift_right_nearest_even(std::uint32_t value, int shift) {
  const std::uint32_t below_half = (std::uint32_t{1} << (shift - 1)) - 1;
  return (value + below_half + ((value >> shift) & 1U)) >> shift;
}

}  // namespace kvproof
