// A tile's arithmetic: amax to scale, elements to codes. Binary32 operations of the machine, each rounded once.
#pragma once

#include <cstdint>

#include "kernels/block.h"
#include "kernels/elements.h"
#include "kernels/plan.h"

namespace kvproof::kernels {

inline constexpr std::uint32_t infinity_pattern = 0x7F800000U;

// The largest magnitude pattern of a lane. Magnitudes order as their patterns do; beyond infinity are the NaN.
KVPROOF_LANE std::uint32_t largest_pattern(const std::uint32_t (&values)[lane_values]) {
  std::uint32_t largest = 0;
  for (int i = 0; i < lane_values; ++i) {
    const std::uint32_t pattern = values[i] & 0x7FFFFFFFU;
    largest = pattern > largest ? pattern : largest;
  }
  return largest;
}

// What a lane with an infinity or a NaN brings to amax: a NaN nothing, and an infinity what the dialect says.
template <class Machine>
KVPROOF_LANE float amax_of_special(const std::uint32_t (&values)[lane_values], Infinity infinity) {
  const std::uint32_t of_infinity = infinity == Infinity::as_largest_bf16 ? 0x7F7F0000U : infinity_pattern;
  float amax = 0;
  for (int i = 0; i < lane_values; ++i) {
    const std::uint32_t pattern = values[i] & 0x7FFFFFFFU;
    const float magnitude = Machine::value(pattern == infinity_pattern ? of_infinity : pattern);
    amax = magnitude > amax ? magnitude : amax;  // false for a NaN
  }
  return amax;
}

struct TileScale {
  std::uint32_t stored;  // the UE8M0 byte, or the fp32 pattern
  float operand;         // what an element is multiplied with, or divided by
};

// 2^(byte - 127) and its inverse 2^(127 - byte); both reach into the subnormals.
template <class Machine>
KVPROOF_LANE float power_of_two(std::uint32_t byte) {
  return Machine::value(byte == 0 ? 0x00400000U : byte << 23);
}

template <class Machine>
KVPROOF_LANE float inverse_power_of_two(std::uint32_t byte) {
  return Machine::value(byte < 254 ? (254 - byte) << 23 : 0x00800000U >> (byte - 253));
}

template <class Machine>
KVPROOF_LANE TileScale tile_scale(float amax, const Rules& rules) {
  const Dialect& dialect = rules.dialect;
  const bool infinite = Machine::bits(amax) == infinity_pattern;
  const float floored = dialect.floor == Floor::amax && amax < rules.floor ? rules.floor : amax;
  float ratio = dialect.ratio == Ratio::divide ? Machine::divide(floored, rules.fp8.limit)
                                               : Machine::multiply(floored, rules.limit_reciprocal);
  ratio = dialect.floor == Floor::ratio && ratio < rules.floor ? rules.floor : ratio;

  // ceil(log2(ratio)) + 127: any set fraction bit carries into the exponent field.
  std::uint32_t byte = (Machine::bits(ratio) + 0x007FFFFFU) >> 23;
  const bool zero_inverse = infinite && dialect.infinity == Infinity::zero_inverse_byte_126;
  byte = zero_inverse ? 126 : byte;
  const float scale = dialect.scale == Scale::fp32 || infinite ? ratio : power_of_two<Machine>(byte);

  TileScale result{};
  result.stored = dialect.scale == Scale::ue8m0 ? byte : Machine::bits(scale);
  switch (dialect.quantise) {
    case Quantise::power_of_two:
      result.operand = inverse_power_of_two<Machine>(byte);
      if (infinite) {
        // Only a port that builds 2^-e from a UE8M0 byte by a shift runs into the sign bit.
        const bool minus_infinity = dialect.scale == Scale::ue8m0 && !zero_inverse;
        result.operand = minus_infinity ? Machine::value(0x80000000U | infinity_pattern) : 0.0F;
      }
      break;
    case Quantise::multiply_reciprocal:
      result.operand = Machine::divide(1.0F, scale);
      break;
    case Quantise::divide:
      result.operand = scale;
      break;
    case Quantise::multiply_limit_over_amax:
      result.operand = Machine::divide(rules.fp8.limit, floored);
      break;
  }
  return result;
}

// The code of an element that no number came out of: a NaN, or zero times infinity.
KVPROOF_LANE std::uint32_t special_code(std::uint32_t value, const Rules& rules) {
  const bool saturates = (value & 0x7FFFFFFFU) == infinity_pattern && rules.dialect.infinity == Infinity::as_largest_bf16;
  return saturates ? rules.fp8.limit_code | ((value >> 24) & 0x80U) : rules.fp8.nan_code;
}

// Whether an element can come out as no number: only if one is a NaN, or meets a zero or an infinity.
template <class Machine>
KVPROOF_LANE bool may_be_special(std::uint32_t largest, float operand) {
  const std::uint32_t pattern = Machine::bits(operand) & 0x7FFFFFFFU;
  return largest > infinity_pattern || pattern == infinity_pattern || pattern == 0;
}

// Four codes, the first in the lowest byte.
template <class Machine>
KVPROOF_LANE std::uint32_t four_codes(const std::uint32_t* values, bool special, float operand, const Rules& rules) {
  float scaled[4];
  if (rules.dialect.quantise == Quantise::divide) {
    for (int i = 0; i < 4; ++i) {
      scaled[i] = Machine::divide(Machine::value(values[i]), operand);
    }
  } else {
    for (int i = 0; i < 4; ++i) {
      scaled[i] = Machine::multiply(Machine::value(values[i]), operand);
    }
  }
  std::uint32_t codes =
      rules.fp8.instruction ? Machine::e4m3fn_codes(scaled, rules.fp8) : software_codes<Machine>(scaled, rules.fp8);
  if (special) {
    for (int i = 0; i < 4; ++i) {
      if (scaled[i] != scaled[i]) {
        codes = (codes & ~(0xFFU << (8 * i))) | (special_code(values[i], rules) << (8 * i));
      }
    }
  }
  return codes;
}

// The 16 codes of a lane, in memory order. `largest` is the lane's largest pattern.
template <class Machine>
KVPROOF_LANE Block tile_codes(const std::uint32_t (&values)[lane_values], std::uint32_t largest, float operand,
                              const Rules& rules) {
  const bool special = may_be_special<Machine>(largest, operand);
  Block codes{};
  for (int word = 0; word < 4; ++word) {
    codes.word[word] = four_codes<Machine>(values + 4 * word, special, operand, rules);
  }
  return codes;
}

}  // namespace kvproof::kernels
