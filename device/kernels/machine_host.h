// The host as a machine for lane programs. Compiled without contraction, so each operator rounds once.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/block.h"
#include "kernels/software_fp8.h"

namespace kvproof::kernels {

struct HostMachine {
  static std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
  static float value(std::uint32_t x) { return std::bit_cast<float>(x); }
  static float add(float a, float b) { return a + b; }
  static float multiply(float a, float b) { return a * b; }
  static float divide(float a, float b) { return a / b; }

  // The accesses are typed, as the GPU's are, so that UndefinedBehaviorSanitizer sees here what would fault there.
  struct alignas(16) [[gnu::may_alias]] Alias16 {
    std::uint32_t word[4];
  };
  using Alias8 [[gnu::may_alias]] = std::uint64_t;
  using Alias4 [[gnu::may_alias]] = std::uint32_t;
  using Alias2 [[gnu::may_alias]] = std::uint16_t;

  static Block load16(const std::uint8_t* at) {
    const Alias16 x = *reinterpret_cast<const Alias16*>(at);
    return {{x.word[0], x.word[1], x.word[2], x.word[3]}};
  }
  static std::uint64_t load8(const std::uint8_t* at) { return *reinterpret_cast<const Alias8*>(at); }
  static std::uint32_t load4(const std::uint8_t* at) { return *reinterpret_cast<const Alias4*>(at); }
  static std::uint32_t load2(const std::uint8_t* at) { return *reinterpret_cast<const Alias2*>(at); }
  static std::uint32_t load1(const std::uint8_t* at) { return *at; }
  static void store16(std::uint8_t* at, const Block& x) {
    *reinterpret_cast<Alias16*>(at) = Alias16{{x.word[0], x.word[1], x.word[2], x.word[3]}};
  }
  static void store4(std::uint8_t* at, std::uint32_t x) { *reinterpret_cast<Alias4*>(at) = x; }
  static void store2(std::uint8_t* at, std::uint32_t x) { *reinterpret_cast<Alias2*>(at) = static_cast<std::uint16_t>(x); }
  static void store1(std::uint8_t* at, std::uint32_t x) { *at = static_cast<std::uint8_t>(x); }

  // Four e4m3fn codes, the first in the lowest byte.
  static std::uint32_t e4m3fn_codes(const float* x, const Fp8Format& format) {
    return software_codes<HostMachine>(x, format);
  }
};

}  // namespace kvproof::kernels
