// The rope: bf16 is copied bit for bit, wider input is rounded once, to nearest even.
#pragma once

#include "planted/parts.h"

namespace kvproof::planted {

inline constexpr std::uint32_t wide_input = KVPROOF_SET(KVPROOF_FP16) | KVPROOF_SET(KVPROOF_FP32);

struct RopeDefect : Right {
  static constexpr Kind kind = Kind::arithmetic;
  static constexpr std::uint32_t layouts = flashmla_only;
};

struct RopeNanQuieted : RopeDefect {
  static constexpr const char* name = "rope-nan-quieted";
  static constexpr const char* defect = "the copy goes through float, which quiets a signalling NaN";
  static constexpr std::uint32_t input_types = KVPROOF_SET(KVPROOF_BF16);
  KVPROOF_HD static std::uint16_t rope(const Call&, std::uint32_t bits) {
    return f32_to_bf16(bf16_to_f32(static_cast<std::uint16_t>(bits)));
  }
};

struct RopeTruncated : RopeDefect {
  static constexpr const char* name = "rope-truncated";
  static constexpr const char* defect = "fp16 and fp32 rope values lose their lower bits instead of being rounded";
  static constexpr std::uint32_t input_types = wide_input;
  KVPROOF_HD static std::uint16_t rope(const Call& call, std::uint32_t bits) {
    const F32 x = element_to_f32(bits, call.shape.input_type);
    return f32_is_nan(x) ? Right::rope(call, bits) : static_cast<std::uint16_t>(x >> 16);
  }
};

struct RopeTiesAway : RopeDefect {
  static constexpr const char* name = "rope-ties-away";
  static constexpr const char* defect = "half a unit is added before the cut: ties go away from zero, not to even";
  static constexpr const char* reenacts = "half away from zero";
  static constexpr std::uint32_t input_types = wide_input;
  KVPROOF_HD static std::uint16_t rope(const Call& call, std::uint32_t bits) {
    const F32 x = element_to_f32(bits, call.shape.input_type);
    return f32_is_nan(x) ? Right::rope(call, bits) : static_cast<std::uint16_t>((x + 0x8000U) >> 16);
  }
};

struct RopeSubnormalsFlushed : RopeDefect {
  static constexpr const char* name = "rope-subnormals-flushed";
  static constexpr const char* defect = "subnormal rope values are written as zeros of their sign";
  static constexpr const char* reenacts = "subnormals flushed";
  KVPROOF_HD static std::uint16_t rope(const Call& call, std::uint32_t bits) {
    const std::uint16_t right = Right::rope(call, bits);
    return (right & 0x7F80U) == 0 ? static_cast<std::uint16_t>(right & 0x8000U) : right;
  }
};

struct RopeThroughFp16 : RopeDefect {
  static constexpr const char* name = "rope-through-fp16";
  static constexpr const char* defect = "fp32 rope values pass through fp16: rounded twice, and infinite from 65,520 on";
  static constexpr const char* reenacts = "double rounding through fp16";
  static constexpr std::uint32_t input_types = KVPROOF_SET(KVPROOF_FP32);
  KVPROOF_HD static std::uint16_t rope(const Call& call, std::uint32_t bits) {
    const F32 magnitude = f32_magnitude(bits);
    if (!f32_is_finite(bits) || magnitude < 0x38800000U) {
      return Right::rope(call, bits);
    }
    return f32_to_bf16(f32_sign(bits) | (magnitude < 0x477FF000U ? to_11_bits(magnitude) : f32_infinity));
  }
};

struct RopeNegativeZeroLost : RopeDefect {
  static constexpr const char* name = "rope-negative-zero-lost";
  static constexpr const char* defect = "a sum with zero turns -0 into +0: equal by value, and another pattern";
  KVPROOF_HD static std::uint16_t rope(const Call& call, std::uint32_t bits) {
    const std::uint16_t right = Right::rope(call, bits);
    return right == 0x8000U ? std::uint16_t{0} : right;
  }
};

}  // namespace kvproof::planted
