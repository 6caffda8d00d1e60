#include "kvproof/oracle/code_table.h"

#include <cmath>
#include <limits>

namespace kvproof::oracle {
namespace {

// Both formats: one sign bit, four exponent bits, three fraction bits.
std::array<double, 256> table(int bias, bool (*is_nan)(int)) {
  std::array<double, 256> values{};
  for (int code = 0; code < 256; ++code) {
    const int exponent = code / 8 % 16;
    const int fraction = code % 8;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, 1 - bias - 3) : std::ldexp(8 + fraction, exponent - bias - 3);
    values[static_cast<std::size_t>(code)] =
        is_nan(code) ? std::numeric_limits<double>::quiet_NaN() : (code < 128 ? magnitude : -magnitude);
  }
  return values;
}

}  // namespace

const std::array<double, 256>& code_values(Fp8 type) {
  static const std::array<double, 256> e4m3fn = table(7, [](int code) { return code % 128 == 127; });
  static const std::array<double, 256> e4m3fnuz = table(8, [](int code) { return code == 128; });
  return type == Fp8::e4m3fn ? e4m3fn : e4m3fnuz;
}

}  // namespace kvproof::oracle
