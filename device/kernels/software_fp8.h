// The fp8 conversion for machines without an instruction for it, in binary32 arithmetic.
#pragma once

#include <cstdint>

#include "kernels/block.h"

namespace kvproof::kernels {

struct Fp8Format {
  float limit;                   // M, the largest magnitude that is stored
  std::uint32_t limit_code;      // its code
  std::uint32_t smallest_field;  // the exponent field of the smallest normal value, in place in a binary32 pattern
  std::uint32_t nan_code;        // what the dialect stores for a NaN
  bool negative_zero;            // e4m3fn has one, e4m3fnuz does not
  bool instruction;              // e4m3fn, which some machines convert by an instruction
};

// Nearest-even and saturating. NaN comes out as some code: the caller replaces it.
//
// Let q be the distance between codes around |x|. 2^23 q is a binary32 value whose ulp is q, so |x| + 2^23 q rounds |x| to a
// multiple of q as the adder rounds, and leaves the multiple in the sum's low bits.
template <class Machine>
KVPROOF_LANE std::uint32_t software_code(float x, const Fp8Format& format) {
  const std::uint32_t sign = (Machine::bits(x) >> 24) & 0x80U;
  const std::uint32_t pattern = Machine::bits(x) & 0x7FFFFFFFU;
  const float magnitude = Machine::value(pattern);
  std::uint32_t code = format.limit_code;
  if (magnitude < format.limit) {
    const std::uint32_t own_field = pattern & 0x7F800000U;
    const std::uint32_t field = own_field > format.smallest_field ? own_field : format.smallest_field;
    const float anchor = Machine::value(field + (20U << 23));  // 2^23 q, as q = 2^(exponent - 3)
    const std::uint32_t multiple = Machine::bits(Machine::add(magnitude, anchor)) & 0x1FU;
    code = ((field - format.smallest_field) >> 20) + multiple;
  }
  return code == 0 && !format.negative_zero ? 0U : code | sign;
}

template <class Machine>
KVPROOF_LANE std::uint32_t software_codes(const float* x, const Fp8Format& format) {
  std::uint32_t codes = 0;
  for (int i = 0; i < 4; ++i) {
    codes |= software_code<Machine>(x[i], format) << (8 * i);
  }
  return codes;
}

}  // namespace kvproof::kernels
