#include "kvproof/oracle/tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kvproof/device/error.h"

namespace kvproof::oracle {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// ceil(log2(ratio)), which a UE8M0 byte holds with 127 added. Below the normal range the byte is 1, for a ratio of 0 it is
// 0.
int ceil_log2(float ratio) {
  if (ratio == 0.0F) {
    return -127;
  }
  if (ratio < std::numeric_limits<float>::min()) {
    return -126;
  }
  if (std::isinf(ratio)) {
    return 128;
  }
  int exponent = 0;
  const float fraction = std::frexp(ratio, &exponent);  // in [0.5, 1)
  return fraction == 0.5F ? exponent - 1 : exponent;
}

}  // namespace

int limit_of(const Dialect& dialect, Fp8 type) { return type == Fp8::e4m3fn ? 448 : dialect.fnuz_limit; }

float amax_share(float element, const Dialect& dialect) {
  if (std::isnan(element)) {
    return 0.0F;
  }
  if (std::isinf(element) && dialect.infinity == Infinity::as_largest_bf16) {
    return std::ldexp(255.0F, 120);
  }
  return std::abs(element);
}

Tile::Tile(float amax, const Dialect& dialect, const NearestCode& nearest, int limit)
    : dialect_(dialect), nearest_(nearest), limit_(static_cast<float>(limit)), infinite_(std::isinf(amax)) {
  const float floor = std::bit_cast<float>(dialect.floor_value);
  const float floored = dialect.floor == Floor::amax ? std::max(amax, floor) : amax;
  float ratio = dialect.ratio == Ratio::divide ? floored / limit_ : floored * (1.0F / limit_);
  if (dialect.floor == Floor::ratio) {
    ratio = std::max(ratio, floor);
  }
  exponent_ = ceil_log2(ratio);
  scale_ = dialect.scale == Scale::fp32 || infinite_ ? ratio : std::ldexp(1.0F, exponent_);
  if (dialect.scale == Scale::ue8m0) {
    const bool byte_126 = infinite_ && dialect.infinity == Infinity::zero_inverse_byte_126;
    stored_ = byte_126 ? 126U : static_cast<std::uint32_t>(exponent_ + 127);
  } else {
    stored_ = std::bit_cast<std::uint32_t>(scale_);
  }
  switch (dialect.quantise) {
    case Quantise::power_of_two:  // finite tiles go by the exponent
      factor_ = dialect.scale == Scale::ue8m0 && dialect.infinity == Infinity::negative_inverse ? -infinity : 0.0F;
      break;
    case Quantise::multiply_reciprocal:
      factor_ = 1.0F / scale_;
      break;
    case Quantise::multiply_limit_over_amax:
      factor_ = limit_ / floored;
      break;
    case Quantise::divide:
      break;
  }
}

std::uint8_t Tile::nan_code() const {
  switch (dialect_.nan) {
    case NanCode::nan:
      return nearest_.nan_code();
    case NanCode::plus_max:
      return nearest_.of(limit_);
    case NanCode::minus_max:
      return nearest_.of(-limit_);
    case NanCode::zero:
      return 0;
    case NanCode::unstated:
      break;
  }
  throw BadInput("a NaN element or quotient: the dialect states no NaN code");
}

std::uint8_t Tile::code(float element) const {
  if (std::isnan(element)) {
    return nan_code();
  }
  if (std::isinf(element)) {
    if (dialect_.infinity == Infinity::unstated) {
      throw BadInput("an infinite element: the dialect does not state what it gives");
    }
    if (dialect_.infinity == Infinity::as_largest_bf16) {
      return nearest_.of(std::copysign(limit_, element));
    }
  }
  double scaled = 0;
  if (dialect_.quantise == Quantise::power_of_two && !infinite_) {
    scaled = std::ldexp(static_cast<double>(element), -exponent_);  // a double holds every such product exactly
  } else if (dialect_.quantise == Quantise::divide) {
    scaled = static_cast<double>(element / scale_);
  } else {
    scaled = static_cast<double>(element * factor_);
  }
  return std::isnan(scaled) ? nan_code() : nearest_.of(scaled);
}

}  // namespace kvproof::oracle
