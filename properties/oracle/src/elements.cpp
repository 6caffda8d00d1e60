#include "kvproof/oracle/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kvproof::oracle {
namespace {

template <class Number>
Number read(const std::uint8_t* row, int i) {
  static_assert(std::endian::native == std::endian::little, "elements are little-endian");
  Number number;
  std::memcpy(&number, row + static_cast<std::size_t>(i) * sizeof number, sizeof number);
  return number;
}

// Adding it makes one unit of bf16, at this magnitude, the last bit of a double: the addition rounds to it, nearest-even.
double rounding_addend(float value) {
  const int exponent = value == 0.0F ? -126 : std::max(std::ilogb(value), -126);
  return std::ldexp(1.5, exponent - 7 + 52);
}

std::uint16_t rounded_with(double addend, float value) {
  const double rounded = std::copysign((static_cast<double>(std::abs(value)) + addend) - addend, static_cast<double>(value));
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(rounded)) >> 16);
}

}  // namespace

float bf16_value(std::uint16_t bits) {
  std::uint16_t halves[2] = {0, bits};
  float value;
  std::memcpy(&value, halves, sizeof value);
  return value;
}

float fp16_value(std::uint16_t bits) {
  const float sign = bits < 0x8000 ? 1.0F : -1.0F;
  const int exponent = bits / 1024 % 32;
  const int fraction = bits % 1024;
  if (exponent == 31) {
    return std::copysign(fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN(),
                         sign);
  }
  const auto significand = static_cast<float>(exponent == 0 ? fraction : 1024 + fraction);
  return sign * std::ldexp(significand, std::max(exponent, 1) - 25);
}

float element_value(const std::uint8_t* row, ElementType type, int i) {
  switch (type) {
    case ElementType::bf16:
      return bf16_value(read<std::uint16_t>(row, i));
    case ElementType::fp16:
      return fp16_value(read<std::uint16_t>(row, i));
    case ElementType::fp32:
      break;
  }
  return read<float>(row, i);
}

std::uint16_t to_bf16(float value) {
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16 | 0x40);
  }
  if (std::isinf(value)) {
    return value < 0 ? 0xFF80 : 0x7F80;
  }
  return rounded_with(rounding_addend(value), value);
}

void to_bf16_of_patterns(std::uint32_t first, std::uint32_t count, std::uint16_t* bf16) {
  const auto value = [first](std::uint32_t i) { return std::bit_cast<float>(first + i); };
  if (!std::isfinite(value(0))) {
    for (std::uint32_t i = 0; i < count; ++i) {
      bf16[i] = to_bf16(value(i));
    }
    return;
  }
  const double addend = rounding_addend(value(0));
  for (std::uint32_t i = 0; i < count; ++i) {
    bf16[i] = rounded_with(addend, value(i));
  }
}

}  // namespace kvproof::oracle
