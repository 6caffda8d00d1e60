// Scales: amax, floor, ratio, and the way to a power of two.
#pragma once

#include "planted/parts.h"

namespace kvproof::planted {

struct ArithmeticDefect : Right {
  static constexpr Kind kind = Kind::arithmetic;
};

struct ScalePlusOneAlways : ArithmeticDefect {
  static constexpr const char* name = "scale-plus-one-always";
  static constexpr const char* defect =
      "the mantissa test looks at the masked register, so an exact power of two is doubled too";
  static constexpr const char* reenacts = "+1 always";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) { return scale_of_byte((ratio_of(call, amax) >> 23) + 1); }
};

struct ScaleFloorForCeil : ArithmeticDefect {
  static constexpr const char* name = "scale-floor-for-ceil";
  static constexpr const char* defect =
      "the exponent is the floor of log2: right for exact powers of two, else codes saturate";
  static constexpr const char* reenacts = "floor for ceil";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) { return scale_of_byte(ratio_of(call, amax) >> 23); }
};

struct ScaleRoundToNearest : ArithmeticDefect {
  static constexpr const char* name = "scale-round-to-nearest";
  static constexpr const char* defect =
      "log2 is rounded to the nearest exponent, so ratios up to 1.41 times a power go down";
  static constexpr const char* reenacts = "round-to-nearest exponent";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    return scale_of_byte((ratio_of(call, amax) + 0x4AFB0DU) >> 23);  // 0x3504F3 is the fraction of the root of 2
  }
};

struct ScaleMaskedPlusOne : ArithmeticDefect {
  static constexpr const char* name = "scale-masked-plus-one";
  static constexpr const char* defect = "1 is added to the masked pattern, not to its exponent field";
  static constexpr const char* reenacts = "(bits & 0x7F800000) + 1";
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "lmdeploy";
  static constexpr std::uint32_t fp8_types = fn_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    return scale_of_value(call, (ratio_of(call, amax) & 0x7F800000U) + 1);
  }
};

struct ScaleFrexpDoubles : ArithmeticDefect {
  static constexpr const char* name = "scale-frexp-doubles";
  static constexpr const char* defect = "frexp's exponent is one too high for exact powers of two, which come out doubled";
  static constexpr const char* reenacts = "frexp doubling exact powers";
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "vllm-indexer-ue8m0";
  static constexpr std::uint32_t fp8_types = fn_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    return scale_of_value(call, ((ratio_of(call, amax) >> 23) + 1) << 23);
  }
};

// log2 of 2^k (1 + m 2^-23) rounds to k where m log2(e) is below half a unit in the last place of k.
struct ScaleLog2ThenCeil : ArithmeticDefect {
  static constexpr const char* name = "scale-log2-then-ceil";
  static constexpr const char* defect = "ceil of a correctly rounded log2 is one binade low just above a power of two";
  static constexpr const char* reenacts = "log2 then ceil";
  static constexpr std::uint32_t layouts = flashmla_only;
  static constexpr std::uint32_t input_types = KVPROOF_SET(KVPROOF_FP32);
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    const F32 ratio = ratio_of(call, amax);
    const int k = static_cast<int>(ratio >> 23) - 127;
    const int binade = 31 - leading_zeros(static_cast<std::uint32_t>(k < 0 ? -k : k) | 1U);
    const std::uint32_t m = ratio & 0x007FFFFFU;
    const bool lost = m * 2885 < (1000U << binade);  // 2 log2(e) = 2.885
    return scale_of_byte((ratio >> 23) + (lost ? 0U : 1U));
  }
};

struct ScaleNoFloor : ArithmeticDefect {
  static constexpr const char* name = "scale-no-floor";
  static constexpr const char* defect = "amax has no floor: a tile of zeros gets the scale 0, or 0 times infinity";
  static constexpr const char* reenacts = "no floor";
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    Dialect dialect = call.dialect;
    dialect.floor = Floor::none;
    return tile_scale(amax, dialect, call.shape.fp8);
  }
};

struct ScaleFloorOnRatio : ArithmeticDefect {
  static constexpr const char* name = "scale-floor-on-ratio";
  static constexpr const char* defect = "the floor is put on the ratio where the dialect puts it on amax";
  static constexpr const char* reenacts = "floor on the other quantity";
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    Dialect dialect = call.dialect;
    dialect.floor = Floor::ratio;
    return tile_scale(amax, dialect, call.shape.fp8);
  }
};

struct ScaleFloorAdded : ArithmeticDefect {
  static constexpr const char* name = "scale-floor-added";
  static constexpr const char* defect = "the floor is added to amax as an epsilon: seen while it is not lost in rounding";
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    return Right::scale(call, as_bits(as_float(amax) + as_float(call.dialect.floor_value)));
  }
};

struct ScaleRawForPowerOfTwo : ArithmeticDefect {
  static constexpr const char* name = "scale-raw-for-power-of-two";
  static constexpr const char* defect = "the ratio is stored as it is where the reader takes the exponent of a power of two";
  static constexpr const char* reenacts = "raw fp32 where a power of two is read";
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "vllm-indexer-ue8m0";
  static constexpr std::uint32_t fp8_types = fn_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) { return scale_of_value(call, ratio_of(call, amax)); }
};

struct ScaleExponentNotClamped : ArithmeticDefect {
  static constexpr const char* name = "scale-exponent-not-clamped";
  static constexpr const char* defect = "an infinity enters amax as it is: byte 255, and 2^-e runs into the sign bit";
  static constexpr const char* reenacts = "exponent not clamped";
  KVPROOF_HD static F32 magnitude(const Call&, F32 x) { return f32_is_nan(x) ? 0 : f32_magnitude(x); }
};

struct RatioByReciprocal : ArithmeticDefect {
  static constexpr const char* name = "ratio-by-reciprocal";
  static constexpr const char* defect = "amax times the rounded reciprocal of M, where the dialect divides";
  static constexpr std::uint32_t layouts = indexer_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    Dialect dialect = call.dialect;
    dialect.ratio = Ratio::multiply_reciprocal;
    return tile_scale(amax, dialect, call.shape.fp8);
  }
};

struct AmaxSkipsLastElement : ArithmeticDefect {
  static constexpr const char* name = "amax-skips-last-element";
  static constexpr const char* defect = "the reduction stops one element short of the tile's end";
  KVPROOF_HD static int end_reduced(const Call& call, int tile) { return Right::end_reduced(call, tile) - 1; }
};

struct AmaxIncludesRope : ArithmeticDefect {
  static constexpr const char* name = "amax-includes-rope";
  static constexpr const char* defect = "the lanes of the last tile are reduced together with those of the rope";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static int end_reduced(const Call& call, int tile) {
    const LayoutShape layout = layout_shape(call.shape.layout);
    return tile == layout.tiles - 1 ? layout.row_values : Right::end_reduced(call, tile);
  }
};

struct AmaxRoundedToBf16 : ArithmeticDefect {
  static constexpr const char* name = "amax-rounded-to-bf16";
  static constexpr const char* defect = "amax is taken from values rounded to bf16, the codes from the values themselves";
  static constexpr std::uint32_t input_types = KVPROOF_SET(KVPROOF_FP16) | KVPROOF_SET(KVPROOF_FP32);
  KVPROOF_HD static F32 magnitude(const Call& call, F32 x) {
    return f32_is_finite(x) ? Right::magnitude(call, bf16_to_f32(f32_to_bf16(x))) : Right::magnitude(call, x);
  }
};

struct AmaxTakesNan : ArithmeticDefect {
  static constexpr const char* name = "amax-takes-nan";
  static constexpr const char* defect = "the reduction compares patterns, so a NaN wins and its tile's scale is lost";
  KVPROOF_HD static F32 magnitude(const Call& call, F32 x) {
    return f32_is_nan(x) ? f32_magnitude(x) : Right::magnitude(call, x);
  }
};

struct InverseWithoutFloor : ArithmeticDefect {
  static constexpr const char* name = "inverse-without-floor";
  static constexpr const char* defect = "the scale is stored with the floor and the elements are scaled without it";
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    TileScale scale = ScaleNoFloor::scale(call, amax);
    scale.stored = Right::scale(call, amax).stored;
    return scale;
  }
};

struct InverseOfUnroundedScale : ArithmeticDefect {
  static constexpr const char* name = "inverse-of-unrounded-scale";
  static constexpr const char* defect =
      "elements are scaled by the ratio itself, the byte stored is that of its power of two";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    return {Right::scale(call, amax).stored, f32_divide(0x3F800000U, ratio_of(call, amax)), 0, false};
  }
};

struct FnuzLimitOfFn : ArithmeticDefect {
  static constexpr const char* name = "fnuz-limit-of-fn";
  static constexpr const char* defect = "e4m3fnuz tiles are scaled to 448, so their largest values saturate at 240";
  static constexpr const char* reenacts = "fnuz bias or max mixed with fn";
  static constexpr std::uint32_t fp8_types = fnuz_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) { return tile_scale(amax, call.dialect, Fp8::e4m3fn); }
};

struct FnuzLimitOfAnotherPort : ArithmeticDefect {
  static constexpr const char* name = "fnuz-limit-of-another-port";
  static constexpr const char* defect = "e4m3fnuz tiles are scaled to 224 where the dialect scales to 240";
  static constexpr std::uint32_t fp8_types = fnuz_only;
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    Dialect dialect = call.dialect;
    dialect.fnuz_limit = 224;
    return tile_scale(amax, dialect, call.shape.fp8);
  }
};

}  // namespace kvproof::planted
