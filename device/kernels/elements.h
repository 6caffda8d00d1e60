// Input elements to binary32 patterns, and binary32 patterns to rope values.
#pragma once

#include <cstdint>

#include "kernels/block.h"
#include "kvproof/reference/element.h"

namespace kvproof::kernels {

inline constexpr int lane_values = 16;  // elements that a lane carries

// Exact. A half's exponent and fraction, moved to where binary32 has them, read as the value times 2^-112.
template <class Machine>
KVPROOF_LANE std::uint32_t half_to_f32(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t moved = (half & 0x7FFFU) << 13;
  if ((half & 0x7C00U) == 0x7C00U) {  // infinity or NaN: the payload stays, so no arithmetic
    return sign | moved | 0x7F800000U;
  }
  return sign | Machine::bits(Machine::multiply(Machine::value(moved), 0x1p112F));
}

// Loads the 16 elements at `at`.
template <class Machine, ElementType Type>
KVPROOF_LANE void load_elements(const std::uint8_t* at, int width, std::uint32_t (&values)[lane_values]) {
  constexpr int a_word = Type == ElementType::fp32 ? 1 : 2;  // elements in a word
  for (int b = 0; b < lane_values / (4 * a_word); ++b) {
    const Block block = load_block<Machine>(at + 16 * b, width);
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t word = block.word[i];
      const int first = (4 * b + i) * a_word;
      if constexpr (Type == ElementType::fp32) {
        values[first] = word;
      } else if constexpr (Type == ElementType::bf16) {
        values[first] = word << 16;
        values[first + 1] = word & 0xFFFF0000U;
      } else {
        values[first] = half_to_f32<Machine>(word & 0xFFFFU);
        values[first + 1] = half_to_f32<Machine>(word >> 16);
      }
    }
  }
}

// A rope value. What came from a bf16 goes back as it came; wider types round to nearest even. A NaN keeps its sign and
// upper payload and becomes quiet, which the conversion instruction does not do.
template <ElementType Type>
KVPROOF_LANE std::uint32_t rope_value(std::uint32_t value) {
  const std::uint32_t upper = value >> 16;
  if constexpr (Type == ElementType::bf16) {
    return upper;
  }
  if ((value & 0x7FFFFFFFU) > 0x7F800000U) {
    return upper | 0x40U;
  }
  const std::uint32_t lower = value & 0xFFFFU;
  const bool up = lower > 0x8000U || (lower == 0x8000U && (upper & 1U) != 0);
  return upper + (up ? 1U : 0U);
}

}  // namespace kvproof::kernels
