// How the quantise rules relate: equal with power-of-two scales, not with raw ones.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kvproof/oracle/tile.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/model.h"

namespace kvproof {
namespace {

// The amax that reaches a UE8M0 byte exactly at its upper edge: 448 * 2^(byte - 127), rounded down to finite.
F32 amax_at(int byte) {
  const double edge = std::ldexp(448.0, byte - 127);
  return edge > 3.38e38 ? f32_largest_bf16 : std::bit_cast<F32>(static_cast<float>(edge));
}

TEST(QuantiseRules, WithPowerOfTwoScalesEveryRuleGivesTheSameCode) {
  Dialect shift = find_dialect("strict", Layout::flashmla)->dialect;
  Dialect multiply = shift;
  multiply.quantise = Quantise::multiply_reciprocal;
  Dialect divide = shift;
  divide.quantise = Quantise::divide;
  std::int64_t pairs = 0;
  for (int byte = 105; byte <= 247; ++byte) {
    const F32 amax = amax_at(byte);
    const TileScale by_shift = tile_scale(amax, shift, Fp8::e4m3fn);
    const TileScale by_product = tile_scale(amax, multiply, Fp8::e4m3fn);
    const TileScale by_quotient = tile_scale(amax, divide, Fp8::e4m3fn);
    ASSERT_EQ(by_shift.stored, static_cast<F32>(byte));
    for (std::uint32_t bf16 = 0; bf16 < 65536; ++bf16, ++pairs) {
      const F32 x = bf16 << 16;
      const std::uint8_t code = quantise(x, by_shift, shift, Fp8::e4m3fn, 0x7E);
      if (code != quantise(x, by_product, multiply, Fp8::e4m3fn, 0x7E) ||
          code != quantise(x, by_quotient, divide, Fp8::e4m3fn, 0x7E)) {
        FAIL() << "scale byte " << byte << ", element " << std::hex << bf16;
      }
    }
  }
  EXPECT_EQ(pairs, 9371648);
}

// Every code of every reachable (scale, element) pair: the whole domain of the FlashMLA store for bf16.
TEST(QuantiseRules, EveryReachablePairHasTheOraclesCode) {
  const Dialect& strict = find_dialect("strict", Layout::flashmla)->dialect;
  const oracle::NearestCode nearest(Fp8::e4m3fn, 448);
  std::int64_t reachable = 0;
  const int step = KVPROOF_SANITIZED ? 17 : 1;
  for (int byte = 105; byte <= 247; byte += step) {
    const F32 amax = amax_at(byte);
    const TileScale scale = tile_scale(amax, strict, Fp8::e4m3fn);
    const oracle::Tile expected(std::bit_cast<float>(amax), strict, nearest, 448);
    // Elements in the tile's uppermost 24 binades: smaller ones are tested with every pattern by the exhaustive tests.
    for (std::uint32_t bf16 = 0; bf16 < 65536; ++bf16) {
      const F32 x = bf16 << 16;
      const F32 magnitude = f32_magnitude(x);
      if (magnitude <= amax && (magnitude == 0 || magnitude + (24U << 23) >= amax)) {
        ASSERT_EQ(quantise(x, scale, strict, Fp8::e4m3fn, 0x7E), expected.code(std::bit_cast<float>(x)))
            << "scale byte " << byte << ", element " << std::hex << bf16;
        ++reachable;
      }
    }
  }
  EXPECT_GT(reachable, KVPROOF_SANITIZED ? 40'000 : 800'000);
}

TEST(QuantiseRules, WithRawScalesQuotientAndProductDifferOnFiveInTenThousandGaussianCodes) {
  const Dialect& product = find_dialect("deepgemm", Layout::indexer)->dialect;
  const Dialect& quotient = find_dialect("vllm-indexer", Layout::indexer)->dialect;
  std::mt19937_64 random(6);
  std::normal_distribution<float> gaussian;
  std::vector<std::uint8_t> row(256);
  const int rows = KVPROOF_SANITIZED ? 2'000 : 20'000;
  int differ = 0;
  for (int i = 0; i < rows; ++i) {
    for (std::size_t value = 0; value < 128; ++value) {
      const std::uint16_t bits = f32_to_bf16(std::bit_cast<F32>(gaussian(random)));
      std::memcpy(row.data() + 2 * value, &bits, 2);
    }
    RowImage one;
    RowImage other;
    model::encode_row(row.data(), ElementType::bf16, product, Fp8::e4m3fn, &one);
    model::encode_row(row.data(), ElementType::bf16, quotient, Fp8::e4m3fn, &other);
    for (int value = 0; value < 128; ++value) {
      differ += one.data[value] != other.data[value] ? 1 : 0;
    }
  }
  const double share = differ / (128.0 * rows);
  EXPECT_GT(share, 3e-4);
  EXPECT_LT(share, 7e-4);
}

}  // namespace
}  // namespace kvproof
