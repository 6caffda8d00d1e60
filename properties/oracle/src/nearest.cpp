#include "kvproof/oracle/nearest.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kvproof/oracle/code_table.h"

namespace kvproof::oracle {
namespace {

bool even(std::uint8_t code) { return code % 2 == 0; }

}  // namespace

NearestCode::NearestCode(Fp8 type, int limit) : limit_(limit), nan_code_(type == Fp8::e4m3fn ? 0x7F : 0x80) {
  const std::array<double, 256>& values = code_values(type);
  for (Side* side : {&positive_, &negative_}) {
    const int first = side == &positive_ ? 0 : 128;
    side->values.resize(128);
    side->codes.resize(128);
    Eigen::Index count = 0;
    for (int code = first; code < first + 128; ++code) {
      double value = values[static_cast<std::size_t>(code)];
      auto byte = static_cast<std::uint8_t>(code);
      if (code == 128 && type == Fp8::e4m3fnuz) {  // the place of -0 holds NaN: a negative underflow takes the one zero
        value = 0;
        byte = 0;
      }
      if (std::abs(value) <= limit_) {  // false for NaN
        side->values[count] = value;
        side->codes[count] = byte;
        ++count;
      }
    }
    side->values.conservativeResize(count);
    side->codes.conservativeResize(count);
  }
}

// Beyond the limit, and there only, distances in double can round to a false tie.
double NearestCode::within_limit(double value) const { return std::clamp(value, -limit_, limit_); }

Eigen::Index NearestCode::place_of(const Side& side, double value) const {
  const Eigen::ArrayXd distance = (side.values - within_limit(value)).abs();
  Eigen::Index place = 0;
  const double least = distance.minCoeff(&place);
  const bool tie = place + 1 < distance.size() && distance[place + 1] == least;
  return tie && !even(side.codes[place]) ? place + 1 : place;
}

std::uint8_t NearestCode::of(double value) const {
  if (std::isnan(value)) {
    return nan_code_;
  }
  const Side& side = std::signbit(value) ? negative_ : positive_;
  return side.codes[place_of(side, value)];
}

void NearestCode::of_patterns(std::uint32_t first, Eigen::Index count, std::uint8_t* codes) const {
  Eigen::ArrayXf floats(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    floats[i] = std::bit_cast<float>(first + static_cast<std::uint32_t>(i));
  }
  const Eigen::ArrayXd given = floats.cast<double>();
  Eigen::Map<Eigen::Array<std::uint8_t, Eigen::Dynamic, 1>> result(codes, count);
  if (std::isnan(given[0])) {  // NaN patterns end each sign's range
    result.setConstant(nan_code_);
    return;
  }
  const Side& side = std::signbit(given[0]) ? negative_ : positive_;
  const bool ends_in_nan = std::isnan(given[count - 1]);
  const Eigen::Index low = std::max<Eigen::Index>(place_of(side, given[0]) - 1, 0);
  const Eigen::Index high = ends_in_nan
                                ? side.codes.size() - 1
                                : std::min<Eigen::Index>(place_of(side, given[count - 1]) + 1, side.codes.size() - 1);
  const Eigen::ArrayXd values = given.max(-limit_).min(limit_);
  Eigen::ArrayXd least = (values - side.values[low]).abs();
  Eigen::ArrayXd nearest = Eigen::ArrayXd::Constant(count, side.codes[low]);
  for (Eigen::Index place = low + 1; place <= high; ++place) {
    const Eigen::ArrayXd distance = (values - side.values[place]).abs();
    const double code = side.codes[place];
    if (even(side.codes[place])) {
      nearest = (distance <= least).select(code, nearest);
    } else {
      nearest = (distance < least).select(code, nearest);
    }
    least = least.min(distance);
  }
  if (ends_in_nan) {
    nearest = given.isNaN().select(static_cast<double>(nan_code_), nearest);
  }
  result = nearest.cast<std::uint8_t>();
}

}  // namespace kvproof::oracle
