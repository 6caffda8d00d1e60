// Codes and narrow elements to binary32: every one of them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "kvproof/oracle/code_table.h"
#include "kvproof/oracle/elements.h"
#include "kvproof/reference/model.h"

namespace kvproof {
namespace {

// The same value, and for zero the same sign; NaN equals NaN.
bool same_value(F32 pattern, double expected) {
  const float found = std::bit_cast<float>(pattern);
  if (std::isnan(expected)) {
    return std::isnan(found);
  }
  return static_cast<double>(found) == expected && std::signbit(found) == std::signbit(expected);
}

TEST(Codes, EveryCodeDecodesToItsTableEntry) {
  for (const Fp8 type : {Fp8::e4m3fn, Fp8::e4m3fnuz}) {
    int compared = 0;
    int nans = 0;
    for (int code = 0; code < 256; ++code, ++compared) {
      const auto byte = static_cast<std::uint8_t>(code);
      F32 pattern = 0;
      model::decode(&byte, 1, type, &pattern);
      EXPECT_TRUE(same_value(pattern, oracle::code_values(type)[byte])) << code;
      nans += fp8_is_nan(byte, type) ? 1 : 0;
      EXPECT_EQ(fp8_is_nan(byte, type), std::isnan(oracle::code_values(type)[byte])) << code;
    }
    EXPECT_EQ(compared, 256);
    EXPECT_EQ(nans, type == Fp8::e4m3fn ? 2 : 1);
  }
}

TEST(Codes, EveryCodeButNanComesBackFromItsValue) {
  for (const auto& [type, limit] : {std::pair{Fp8::e4m3fn, 448}, std::pair{Fp8::e4m3fnuz, 240}}) {
    int compared = 0;
    for (int code = 0; code < 256; ++code) {
      const auto byte = static_cast<std::uint8_t>(code);
      if (!fp8_is_nan(byte, type)) {
        F32 pattern = 0;
        std::uint8_t back = 0;
        model::decode(&byte, 1, type, &pattern);
        model::encode(&pattern, 1, type, limit, &back);
        EXPECT_EQ(back, byte);
        ++compared;
      }
    }
    EXPECT_EQ(compared, type == Fp8::e4m3fn ? 254 : 255);
  }
}

TEST(Codes, TheLimitsAreTheTableEntriesTheyClaim) {
  EXPECT_EQ(oracle::code_values(Fp8::e4m3fn)[fp8_limit_code(Fp8::e4m3fn, 448)], 448.0);
  EXPECT_EQ(oracle::code_values(Fp8::e4m3fnuz)[fp8_limit_code(Fp8::e4m3fnuz, 240)], 240.0);
  EXPECT_EQ(oracle::code_values(Fp8::e4m3fnuz)[fp8_limit_code(Fp8::e4m3fnuz, 224)], 224.0);
}

TEST(Codes, EveryBf16HasItsValue) {
  int compared = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits, ++compared) {
    const auto narrow_bits = static_cast<std::uint16_t>(bits);
    ASSERT_TRUE(same_value(element_to_f32(bits, ElementType::bf16), static_cast<double>(oracle::bf16_value(narrow_bits))))
        << bits;
    ASSERT_EQ(element_to_rope(bits, ElementType::bf16), bits);
  }
  EXPECT_EQ(compared, 65536);
}

TEST(Codes, EveryFp16HasItsValueAndRoundsToItsRope) {
  int compared = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits, ++compared) {
    const float value = oracle::fp16_value(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(same_value(element_to_f32(bits, ElementType::fp16), static_cast<double>(value))) << bits;
    const std::uint16_t rope = element_to_rope(bits, ElementType::fp16);
    if (std::isnan(value)) {  // sign and upper payload stay, the quiet bit is set
      ASSERT_EQ(rope, (bits & 0x8000U) | 0x7FC0U | ((bits & 0x3FFU) >> 3)) << bits;
    } else {
      ASSERT_EQ(rope, oracle::to_bf16(value)) << bits;
    }
  }
  EXPECT_EQ(compared, 65536);
}

TEST(Codes, EveryUe8m0ByteIsItsPowerOfTwo) {
  for (int byte = 0; byte < 255; ++byte) {
    EXPECT_TRUE(same_value(ue8m0_to_f32(static_cast<std::uint8_t>(byte)), std::ldexp(1.0, byte - 127))) << byte;
  }
}

}  // namespace
}  // namespace kvproof
