// fl(a * b) and fl(a / b) against the hardware's, bit for bit.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "kvproof/reference/f32_divide.h"
#include "kvproof/reference/f32_multiply.h"

namespace kvproof {
namespace {

constexpr int random_pairs = KVPROOF_SANITIZED ? 2'000'000 : 40'000'000;

F32 canonical(float value) { return std::isnan(value) ? f32_quiet_nan : std::bit_cast<F32>(value); }

F32 hardware_multiply(F32 a, F32 b) { return canonical(std::bit_cast<float>(a) * std::bit_cast<float>(b)); }
F32 hardware_divide(F32 a, F32 b) { return canonical(std::bit_cast<float>(a) / std::bit_cast<float>(b)); }

::testing::AssertionResult same(F32 a, F32 b) {
  if (f32_multiply(a, b) != hardware_multiply(a, b)) {
    return ::testing::AssertionFailure() << std::hex << a << " * " << b << ": model " << f32_multiply(a, b) << ", hardware "
                                         << hardware_multiply(a, b);
  }
  if (f32_divide(a, b) != hardware_divide(a, b)) {
    return ::testing::AssertionFailure() << std::hex << a << " / " << b << ": model " << f32_divide(a, b) << ", hardware "
                                         << hardware_divide(a, b);
  }
  return ::testing::AssertionSuccess();
}

bool agree(F32 a, F32 b) {
  return f32_multiply(a, b) == hardware_multiply(a, b) && f32_divide(a, b) == hardware_divide(a, b);
}

TEST(Arithmetic, RandomPatternsAgree) {
  std::mt19937_64 random(1);
  int compared = 0;
  for (; compared < random_pairs; ++compared) {
    const std::uint64_t bits = random();
    const auto a = static_cast<F32>(bits);
    const auto b = static_cast<F32>(bits >> 32);
    if (!agree(a, b)) {
      FAIL() << same(a, b).message();
    }
  }
  EXPECT_EQ(compared, random_pairs);
}

// Exponents that bring the result to the edges of the range: subnormal, underflow, overflow.
TEST(Arithmetic, ResultsAtTheEdgesOfTheRangeAgree) {
  std::mt19937_64 random(2);
  int subnormal_products = 0;
  int infinite_products = 0;
  int subnormal_quotients = 0;
  for (int i = 0; i < random_pairs / 2; ++i) {
    const std::uint64_t bits = random();
    const int around = i % 2 == 0 ? -1 : 254 + 127;  // sum of the exponent fields of a product at the lower and upper edge
    const int field_a = std::max(0, std::min(254, around - 254)) + static_cast<int>(bits % 128);
    const int field_b =
        std::min(254, std::max(0, around + 127 * (i % 2 == 0 ? 1 : 0) - field_a + static_cast<int>(bits >> 8 & 31) - 16));
    const auto a = static_cast<F32>((static_cast<F32>(std::min(field_a, 254)) << 23) | (bits >> 16 & 0x807FFFFFU));
    const auto b = static_cast<F32>((static_cast<F32>(field_b) << 23) | (bits >> 40 & 0x7FFFFFU));
    if (!agree(a, b)) {
      FAIL() << same(a, b).message();
    }
    const F32 product = f32_magnitude(f32_multiply(a, b));
    subnormal_products += product != 0 && product < 0x00800000U ? 1 : 0;
    infinite_products += product == f32_infinity ? 1 : 0;
    const F32 reciprocal = f32_magnitude(f32_divide(a, b ^ 0x40000000U));
    if (!agree(a, b ^ 0x40000000U)) {
      FAIL() << same(a, b ^ 0x40000000U).message();
    }
    subnormal_quotients += reciprocal != 0 && reciprocal < 0x00800000U ? 1 : 0;
  }
  EXPECT_GT(subnormal_products, random_pairs / 50);
  EXPECT_GT(infinite_products, random_pairs / 50);
  EXPECT_GT(subnormal_quotients, random_pairs / 50);
}

// Short significands give exact ties: the product of two 13-bit odd numbers has 25 or 26 bits.
TEST(Arithmetic, ExactTiesAgree) {
  std::mt19937_64 random(3);
  int ties = 0;
  for (int i = 0; i < random_pairs / 4; ++i) {
    const std::uint64_t bits = random();
    const auto short_number = [](std::uint64_t from, int length) {
      const auto fraction = static_cast<F32>((from & ((1U << (length - 1)) - 1)) | 1U) << (24 - length);
      return static_cast<F32>((100 + (from >> 32 & 31)) << 23) | (fraction & 0x7FFFFFU);
    };
    const F32 a = short_number(bits, 13);
    const F32 b = short_number(bits >> 13, 13);
    const std::uint64_t product = static_cast<std::uint64_t>((a & 0x7FFFFFU) | 0x800000U) * ((b & 0x7FFFFFU) | 0x800000U);
    const int dropped = product >> 47 != 0 ? 24 : 23;
    ties += (product & ((std::uint64_t{1} << dropped) - 1)) == std::uint64_t{1} << (dropped - 1) ? 1 : 0;
    if (!agree(a, b)) {
      FAIL() << same(a, b).message();
    }
    const F32 scaled_down = (a & 0x807FFFFFU) | (static_cast<F32>(bits >> 40 & 15) << 23);  // quotients by powers of two:
    const F32 power = static_cast<F32>(127 + (bits >> 50 & 31)) << 23;                      // ties among subnormals
    if (!agree(scaled_down, power)) {
      FAIL() << same(scaled_down, power).message();
    }
  }
  EXPECT_GT(ties, random_pairs / 20);
}

// Every pair of patterns beside a power of two, an edge of the range or a special value.
TEST(Arithmetic, SpecialPatternsAgreeInEveryPair) {
  std::vector<F32> special{0,           1,           2,           3,           0x00400000U, 0x007FFFFFU, f32_infinity,
                           0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0x38D1B717U, 0x322BCC77U, 0x43E00000U, 0x43700000U,
                           0x43600000U, 0x3B124925U};
  for (F32 field = 1; field < 255; ++field) {
    for (const F32 fraction : {0x000000U, 0x000001U, 0x400000U, 0x600000U, 0x7FFFFFU}) {
      special.push_back(field << 23 | fraction);
    }
  }
  std::uint64_t compared = 0;
  for (const F32 a : special) {
    for (const F32 b : special) {
      for (const F32 signs : {0U, f32_sign_bit}) {
        ASSERT_TRUE(same(a ^ signs, b));
        ASSERT_TRUE(same(a, b ^ signs));
        compared += 2;
      }
    }
  }
  EXPECT_EQ(compared, 4 * special.size() * special.size());
}

}  // namespace
}  // namespace kvproof
