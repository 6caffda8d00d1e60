// Parts that several defects are made of.
#pragma once

#include <cstring>

#include "kvproof/reference/declared_error.h"
#include "planted/right.h"

namespace kvproof::planted {

KVPROOF_HD inline float as_float(F32 bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

KVPROOF_HD inline F32 as_bits(float value) {
  F32 bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// A normal number some units in the last place away; any other stays.
KVPROOF_HD inline F32 off_by(F32 x, int ulps) { return f32_is_normal(x) ? f32_neighbour(x, ulps) : x; }

// The ratio of a tile, floor and all.
KVPROOF_HD inline F32 ratio_of(const Call& call, F32 amax) {
  const Dialect& dialect = call.dialect;
  return tile_ratio(dialect.floor == Floor::amax && amax < dialect.floor_value ? dialect.floor_value : amax, dialect,
                    call.shape.fp8);
}

// The scale that goes with a UE8M0 byte, or with an fp32 value.
KVPROOF_HD inline TileScale scale_of_byte(std::uint32_t byte) { return {byte, 0, static_cast<int>(byte) - 127, true}; }
KVPROOF_HD inline TileScale scale_of_value(const Call& call, F32 value) {
  return {value, call.dialect.quantise == Quantise::divide ? value : f32_divide(0x3F800000U, value), 0, false};
}

// An element as it goes into the fp8 rounding.
KVPROOF_HD inline F32 scaled(const Call& call, F32 x, const TileScale& scale) {
  if (scale.exact_shift) {
    return f32_multiply(x, static_cast<F32>(127 - scale.shift) << 23);
  }
  return call.dialect.quantise == Quantise::divide ? f32_divide(x, scale.operand) : f32_multiply(x, scale.operand);
}

// The code at or below a finite magnitude, and what is left over, where `half` is half of the way to the next code.
struct Between {
  std::uint32_t below;
  std::uint32_t rest;
  std::uint32_t half;
};

KVPROOF_HD inline Between between_codes(F32 magnitude, Fp8 type) {
  if (magnitude == 0) {
    return {0, 0, 1};
  }
  const F32Parts parts = f32_split(magnitude);
  const int field = parts.exponent - fp8_smallest_exponent(type);
  if (field > 15) {
    return {0x80, 0, 1};
  }
  const int shift = field >= 0 ? 20 : 20 - field;
  if (shift > 30) {
    return {0, 1, 2};
  }
  const std::uint32_t wide = (field > 0 ? static_cast<std::uint32_t>(field) << 23 : 0U) + parts.significand;
  return {wide >> shift, wide & ((1U << shift) - 1), 1U << (shift - 1)};
}

// A magnitude code with the sign of x, at most the limit.
KVPROOF_HD inline std::uint8_t limited(const Call& call, F32 x, std::uint32_t code) {
  const std::uint32_t limit = Right::limit_code(call);
  return fp8_with_sign(f32_sign(x), code < limit ? code : limit, call.shape.fp8);
}

// A magnitude rounded to the 11 bits of an fp16, nearest-even; fp16's subnormals lie below every code.
KVPROOF_HD inline F32 to_11_bits(F32 magnitude) { return shift_right_nearest_even(magnitude, 13) << 13; }

// Whether one of the 64 tokens before this one has the same index.
KVPROOF_HD inline bool claimed_before(const Call& call, std::int64_t token) {
  for (std::int64_t other = token - 1; other >= 0 && other >= token - 64; --other) {
    if (Right::index(call, other) == Right::index(call, token)) {
      return true;
    }
  }
  return false;
}

}  // namespace kvproof::planted
