// Codes: the element's way from its scaled value to eight bits.
#pragma once

#include "planted/parts.h"

namespace kvproof::planted {

struct CodeDefect : Right {
  static constexpr Kind kind = Kind::arithmetic;
};

struct CodeSaturatesAt256 : CodeDefect {
  static constexpr const char* name = "code-saturates-at-256";
  static constexpr const char* defect =
      "a software cast saturates at the last binade's first value: 256, or 128 in e4m3fnuz";
  static constexpr const char* reenacts = "software cast saturating at 256 (fn) or 128 (fnuz)";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const std::uint8_t right = Right::code(call, x, scale);
    const bool lost = (right & 0x7FU) > 0x78 && !fp8_is_nan(right, call.shape.fp8);
    return lost ? static_cast<std::uint8_t>((right & 0x80U) | 0x78U) : right;
  }
};

struct CodeHalfAway : CodeDefect {
  static constexpr const char* name = "code-half-away-from-zero";
  static constexpr const char* defect = "ties between two codes go away from zero, not to the even one";
  static constexpr const char* reenacts = "half away from zero";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const F32 y = scaled(call, x, scale);
    if (!f32_is_finite(y)) {
      return Right::code(call, x, scale);
    }
    const Between codes = between_codes(f32_magnitude(y), call.shape.fp8);
    return limited(call, y, codes.below + (codes.rest >= codes.half ? 1U : 0U));
  }
};

struct CodeHalfUp : CodeDefect {
  static constexpr const char* name = "code-half-up";
  static constexpr const char* defect = "ties go up, as floor(x + 0.5) has them: positive and negative values differ";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const F32 y = scaled(call, x, scale);
    if (!f32_is_finite(y)) {
      return Right::code(call, x, scale);
    }
    const Between codes = between_codes(f32_magnitude(y), call.shape.fp8);
    const bool up = f32_sign(y) != 0 ? codes.rest > codes.half : codes.rest >= codes.half;
    return limited(call, y, codes.below + (up ? 1U : 0U));
  }
};

struct CodeThroughFp16 : CodeDefect {
  static constexpr const char* name = "code-through-fp16";
  static constexpr const char* defect =
      "the scaled value is rounded to fp16 and then to fp8: twice, where fp16 ends on a tie";
  static constexpr const char* reenacts = "double rounding through fp16";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const F32 y = scaled(call, x, scale);
    return f32_is_finite(y) ? f32_to_fp8(f32_sign(y) | to_11_bits(f32_magnitude(y)), call.shape.fp8, Right::limit_code(call))
                            : Right::code(call, x, scale);
  }
};

struct CodeSubnormalsFlushed : CodeDefect {
  static constexpr const char* name = "code-subnormals-flushed";
  static constexpr const char* defect = "subnormal codes are written as zeros of their sign";
  static constexpr const char* reenacts = "subnormals flushed";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const std::uint8_t right = Right::code(call, x, scale);
    return (right & 0x7FU) < 8 && !fp8_is_nan(right, call.shape.fp8) ? fp8_with_sign(f32_sign(x), 0, call.shape.fp8) : right;
  }
};

struct CodeBelowSmallestFlushed : CodeDefect {
  static constexpr const char* name = "code-below-smallest-flushed";
  static constexpr const char* defect = "what is smaller than the smallest code becomes 0 even above half of it";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const F32 y = scaled(call, x, scale);
    const bool below = f32_is_finite(y) && between_codes(f32_magnitude(y), call.shape.fp8).below == 0;
    return below ? fp8_with_sign(f32_sign(y), 0, call.shape.fp8) : Right::code(call, x, scale);
  }
};

struct CodeClampMissing : CodeDefect {
  static constexpr const char* name = "code-clamp-missing";
  static constexpr const char* defect = "nothing is clamped before the cast, so an infinity becomes the NaN code";
  static constexpr const char* reenacts = "clamp missing";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    return f32_is_infinity(x) ? fp8_nan(call.shape.fp8) : Right::code(call, x, scale);
  }
};

struct FnuzBiasOfFn : CodeDefect {
  static constexpr const char* name = "fnuz-bias-of-fn";
  static constexpr const char* defect = "e4m3fnuz codes are built with the bias 7 of e4m3fn, half of what they should be";
  static constexpr const char* reenacts = "fnuz bias or max mixed with fn";
  static constexpr std::uint32_t fp8_types = fnuz_only;
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const F32 y = scaled(call, x, scale);
    if (!f32_is_finite(y)) {
      return Right::code(call, x, scale);
    }
    const std::uint8_t fn = f32_to_fp8(y, Fp8::e4m3fn, 0x7E);
    return (fn & 0x7FU) == 0 ? std::uint8_t{0} : fn;
  }
};

struct FnuzNegativeZero : CodeDefect {
  static constexpr const char* name = "fnuz-negative-zero";
  static constexpr const char* defect = "a negative value that underflows gives 0x80, which is NaN in e4m3fnuz";
  static constexpr const char* reenacts = "0x80 for a negative underflow";
  static constexpr std::uint32_t fp8_types = fnuz_only;
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const std::uint8_t right = Right::code(call, x, scale);
    return right == 0 && f32_sign(x) != 0 && !f32_is_nan(x) ? std::uint8_t{0x80} : right;
  }
};

struct CodeSignOfZeroLost : CodeDefect {
  static constexpr const char* name = "code-sign-of-zero-lost";
  static constexpr const char* defect = "a negative value that underflows gives 0x00, where e4m3fn has 0x80";
  static constexpr std::uint32_t fp8_types = fn_only;
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const std::uint8_t right = Right::code(call, x, scale);
    return right == 0x80 ? std::uint8_t{0} : right;
  }
};

struct CodeByReciprocal : CodeDefect {
  static constexpr const char* name = "code-by-reciprocal";
  static constexpr const char* defect = "elements are multiplied by a rounded 1 / s, where the dialect divides by s";
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "vllm-indexer";
  static constexpr std::uint32_t fp8_types = fn_only;
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const F32 y = f32_multiply(x, f32_divide(0x3F800000U, scale.operand));
    return f32_is_finite(y) ? f32_to_fp8(y, call.shape.fp8, Right::limit_code(call)) : Right::code(call, x, scale);
  }
};

struct ReciprocalOneUlpLow : CodeDefect {
  static constexpr const char* name = "reciprocal-one-ulp-low";
  static constexpr const char* defect = "an approximate reciprocal is one unit in the last place low, and not declared";
  static constexpr std::uint32_t layouts = indexer_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    TileScale scale = Right::scale(call, amax);
    scale.operand = off_by(scale.operand, -1);
    return scale;
  }
};

// Under a declared error: what it explains passes, and nothing else does.
struct DeclaredDefect : CodeDefect {
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "sglang-triton";
};

struct ReciprocalBeyondDeclared : DeclaredDefect {
  static constexpr const char* name = "reciprocal-beyond-declared";
  static constexpr const char* defect =
      "an approximate reciprocal is two units in the last place high, where one is declared";
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    TileScale scale = Right::scale(call, amax);
    scale.operand = off_by(scale.operand, 2);
    return scale;
  }
};

struct CodesTwoUpUnderDeclared : DeclaredDefect {
  static constexpr const char* name = "codes-two-up-under-declared";
  static constexpr const char* defect =
      "one code in 32 is two too high, in a kernel that declares an approximate reciprocal";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const std::uint8_t right = Right::code(call, x, scale);
    const std::uint32_t magnitude = right & 0x7fU;
    return magnitude % 32 == 17 ? limited(call, x, magnitude + 2) : right;
  }
};

struct ScaleUlpUnderDeclared : DeclaredDefect {
  static constexpr const char* name = "scale-ulp-under-declared";
  static constexpr const char* defect =
      "the stored scale is a unit in the last place high too, in a kernel that declares an approximate reciprocal";
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    TileScale scale = Right::scale(call, amax);
    scale.stored = off_by(scale.stored, 1);
    return scale;
  }
};

struct CodeByLimitOverAmax : CodeDefect {
  static constexpr const char* name = "code-by-limit-over-amax";
  static constexpr const char* defect = "elements are multiplied by M / amax, not by the reciprocal of the stored scale";
  static constexpr std::uint32_t layouts = indexer_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    TileScale scale = Right::scale(call, amax);
    const F32 floored = amax < call.dialect.floor_value ? call.dialect.floor_value : amax;
    scale.operand = f32_divide(dialect_limit_f32(call.dialect, call.shape.fp8), floored);
    return scale;
  }
};

struct NanCodeSigned : CodeDefect {
  static constexpr const char* name = "nan-code-signed";
  static constexpr const char* defect = "a NaN keeps its sign in its code: 0xFF for a negative one";
  static constexpr std::uint32_t fp8_types = fn_only;
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    const std::uint8_t right = Right::code(call, x, scale);
    return f32_is_nan(x) ? static_cast<std::uint8_t>(right | (f32_sign(x) >> 24)) : right;
  }
};

struct NanSaturates : CodeDefect {
  static constexpr const char* name = "nan-saturates";
  static constexpr const char* defect = "a NaN is clamped to M with the others, and looks like the tile's largest value";
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    return f32_is_nan(x) ? Right::limit_code(call) : Right::code(call, x, scale);
  }
};

struct Fp16SubnormalsFlushed : CodeDefect {
  static constexpr const char* name = "fp16-subnormals-flushed";
  static constexpr const char* defect = "subnormal fp16 input is read as zero";
  static constexpr const char* reenacts = "subnormals flushed";
  static constexpr std::uint32_t input_types = KVPROOF_SET(KVPROOF_FP16);
  KVPROOF_HD static F32 element(const Call& call, const std::uint8_t* row, int i) {
    const F32 x = Right::element(call, row, i);
    return f32_magnitude(x) < 0x38800000U ? f32_sign(x) : x;
  }
};

struct Fp32ReadAsBf16 : CodeDefect {
  static constexpr const char* name = "fp32-read-as-bf16";
  static constexpr const char* defect = "fp32 input is cut to its upper half before it is quantised";
  static constexpr std::uint32_t input_types = KVPROOF_SET(KVPROOF_FP32);
  KVPROOF_HD static F32 element(const Call& call, const std::uint8_t* row, int i) {
    const F32 x = Right::element(call, row, i);
    return f32_is_finite(x) ? x & 0xFFFF0000U : x;
  }
};

}  // namespace kvproof::planted
