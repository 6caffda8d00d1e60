// The types an input row can have.
#pragma once

#include <cstdint>

#include "kvproof/reference/bf16_to_f32.h"
#include "kvproof/reference/f16_to_f32.h"
#include "kvproof/reference/f32_to_bf16.h"

namespace kvproof {

enum class ElementType : std::uint32_t { bf16 = 0, fp16 = 1, fp32 = 2 };

// Bytes of one element.
KVPROOF_HD constexpr int element_bytes(ElementType type) { return type == ElementType::fp32 ? 4 : 2; }

// Element `i` of a row as stored, zero-extended. Little-endian, no alignment asked of `row`.
KVPROOF_HD inline std::uint32_t element_bits(const std::uint8_t* row, ElementType type, std::int64_t i) {
  const std::uint8_t* at = row + i * element_bytes(type);
  std::uint32_t bits = static_cast<std::uint32_t>(at[0]) | (static_cast<std::uint32_t>(at[1]) << 8);
  if (type == ElementType::fp32) {
    bits |= (static_cast<std::uint32_t>(at[2]) << 16) | (static_cast<std::uint32_t>(at[3]) << 24);
  }
  return bits;
}

// The value of an element as binary32; exact for every type.
KVPROOF_HD constexpr F32 element_to_f32(std::uint32_t bits, ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return bf16_to_f32(static_cast<std::uint16_t>(bits));
    case ElementType::fp16:
      return f16_to_f32(static_cast<std::uint16_t>(bits));
    case ElementType::fp32:
      break;
  }
  return bits;
}

// The value of an element as a bf16 rope value: bf16 is copied bit for bit, wider types round to nearest even.
KVPROOF_HD constexpr std::uint16_t element_to_rope(std::uint32_t bits, ElementType type) {
  if (type == ElementType::bf16) {
    return static_cast<std::uint16_t>(bits);
  }
  return f32_to_bf16(element_to_f32(bits, type));
}

}  // namespace kvproof
