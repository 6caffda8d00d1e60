// Input elements as hardware floats, and floats as bf16.
#pragma once

#include <cstdint>

#include "kvproof/reference/element.h"

namespace kvproof::oracle {

float bf16_value(std::uint16_t bits);

// From the format's definition: 1 sign, 5 exponent, 10 fraction bits, bias 15.
float fp16_value(std::uint16_t bits);

// Element `i` of a row as stored.
float element_value(const std::uint8_t* row, ElementType type, int i);

// Rounded to nearest even by a hardware addition; a NaN keeps its sign and upper payload and becomes quiet.
std::uint16_t to_bf16(float value);

// The same for `count` fp32 patterns from `first` on, all of one sign and one exponent, so that one addend serves them all.
void to_bf16_of_patterns(std::uint32_t first, std::uint32_t count, std::uint16_t* bf16);

}  // namespace kvproof::oracle
