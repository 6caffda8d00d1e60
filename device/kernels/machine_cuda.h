// The GPU as a machine for lane programs. The intrinsics round once whatever the compiler's flags say of contraction.
#pragma once

#include <cuda_fp8.h>

#include <cstdint>

#include "kernels/block.h"
#include "kernels/software_fp8.h"

namespace kvproof::kernels {

struct CudaMachine {
  static KVPROOF_LANE std::uint32_t bits(float x) { return __float_as_uint(x); }
  static KVPROOF_LANE float value(std::uint32_t x) { return __uint_as_float(x); }
  static KVPROOF_LANE float add(float a, float b) { return __fadd_rn(a, b); }
  static KVPROOF_LANE float multiply(float a, float b) { return __fmul_rn(a, b); }
  static KVPROOF_LANE float divide(float a, float b) { return __fdiv_rn(a, b); }

  // Input is read once: the hint keeps it from displacing what the caches could serve again.
  static KVPROOF_LANE Block load16(const std::uint8_t* at) {
    const uint4 x = __ldcs(reinterpret_cast<const uint4*>(at));
    return {{x.x, x.y, x.z, x.w}};
  }
  static KVPROOF_LANE std::uint64_t load8(const std::uint8_t* at) { return *reinterpret_cast<const std::uint64_t*>(at); }
  static KVPROOF_LANE std::uint32_t load4(const std::uint8_t* at) { return *reinterpret_cast<const std::uint32_t*>(at); }
  static KVPROOF_LANE std::uint32_t load2(const std::uint8_t* at) { return *reinterpret_cast<const std::uint16_t*>(at); }
  static KVPROOF_LANE std::uint32_t load1(const std::uint8_t* at) { return *at; }
  static KVPROOF_LANE void store16(std::uint8_t* at, const Block& x) {
    *reinterpret_cast<uint4*>(at) = make_uint4(x.word[0], x.word[1], x.word[2], x.word[3]);
  }
  static KVPROOF_LANE void store4(std::uint8_t* at, std::uint32_t x) { *reinterpret_cast<std::uint32_t*>(at) = x; }
  static KVPROOF_LANE void store2(std::uint8_t* at, std::uint32_t x) {
    *reinterpret_cast<std::uint16_t*>(at) = static_cast<std::uint16_t>(x);
  }
  static KVPROOF_LANE void store1(std::uint8_t* at, std::uint32_t x) { *at = static_cast<std::uint8_t>(x); }

  // Four e4m3fn codes, the first in the lowest byte: by the conversion instruction where there is one.
  static KVPROOF_LANE std::uint32_t e4m3fn_codes(const float* x, const Fp8Format& format) {
#if __CUDA_ARCH__ >= 890
    (void)format;
    const std::uint32_t low = __nv_cvt_float2_to_fp8x2(make_float2(x[0], x[1]), __NV_SATFINITE, __NV_E4M3);
    const std::uint32_t high = __nv_cvt_float2_to_fp8x2(make_float2(x[2], x[3]), __NV_SATFINITE, __NV_E4M3);
    return low | (high << 16);
#else
    return software_codes<CudaMachine>(x, format);
#endif
  }
};

}  // namespace kvproof::kernels
