// Scales of every bf16 amax, in every dialect, and the counts by which dialects differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>

#include "kvproof/oracle/tile.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/quantise.h"

namespace kvproof {
namespace {

constexpr std::uint32_t finite_amax_count = 0x7F80;  // non-negative finite bf16: 0x0000 to 0x7F7F

F32 amax_of(std::uint32_t bf16) { return bf16 << 16; }

struct Format {
  Fp8 type;
  int limit;
};
constexpr Format formats[] = {{Fp8::e4m3fn, 448}, {Fp8::e4m3fnuz, 240}, {Fp8::e4m3fnuz, 224}};

const Dialect& dialect(std::string_view name, Layout layout) { return find_dialect(name, layout)->dialect; }

struct Range {
  std::uint32_t low = 255;
  std::uint32_t high = 0;
  std::set<std::uint32_t> reached;
};

Range bytes_of(const Dialect& d, Fp8 type) {
  Range range;
  for (std::uint32_t bf16 = 0; bf16 < finite_amax_count; ++bf16) {
    range.reached.insert(tile_scale(amax_of(bf16), d, type).stored);
  }
  range.low = *range.reached.begin();
  range.high = *range.reached.rbegin();
  return range;
}

TEST(Scales, EveryBf16AmaxHasTheOraclesScaleInEveryDialect) {
  int dialects_compared = 0;
  for (const NamedDialect& entry : dialects()) {
    for (const Format& format : formats) {
      Dialect d = entry.dialect;
      d.fnuz_limit = format.type == Fp8::e4m3fn ? d.fnuz_limit : format.limit;
      const oracle::NearestCode nearest(format.type, format.limit);
      std::uint32_t compared = 0;
      for (std::uint32_t bf16 = 0; bf16 < finite_amax_count; ++bf16, ++compared) {
        const oracle::Tile expected(std::bit_cast<float>(amax_of(bf16)), d, nearest, format.limit);
        ASSERT_EQ(tile_scale(amax_of(bf16), d, format.type).stored, expected.stored_scale())
            << entry.name << ", limit " << format.limit << ", amax " << std::hex << bf16;
      }
      EXPECT_EQ(compared, 32640U);
    }
    ++dialects_compared;
  }
  EXPECT_EQ(dialects_compared, 21);
}

TEST(Scales, RandomFp32AmaxHaveTheOraclesScaleUnderEveryRule) {
  constexpr int tries = KVPROOF_SANITIZED ? 2'000 : 200'000;
  std::mt19937_64 random(5);
  for (const Format& format : formats) {
    const oracle::NearestCode nearest(format.type, format.limit);
    for (const Floor floor : {Floor::none, Floor::amax, Floor::ratio}) {
      for (const Ratio ratio : {Ratio::divide, Ratio::multiply_reciprocal}) {
        for (const Scale scale : {Scale::ue8m0, Scale::fp32, Scale::fp32_power_of_two}) {
          Dialect d;
          d.fnuz_limit = format.type == Fp8::e4m3fn ? 240 : format.limit;
          d.floor = floor;
          d.ratio = ratio;
          d.scale = scale;
          for (int i = 0; i < tries; ++i) {
            const std::uint64_t bits = random();
            F32 amax = static_cast<F32>(bits) & f32_magnitude_mask;
            if (bits >> 63 != 0) {  // near a binade edge of the ratio
              const F32 edge = format.limit == 240 ? 0x700000U : 0x600000U;
              amax = (amax & 0x7F800000U) + edge + static_cast<F32>(bits >> 40 & 7) - 3;
            }
            if (amax < f32_infinity) {
              const oracle::Tile expected(std::bit_cast<float>(amax), d, nearest, format.limit);
              ASSERT_EQ(tile_scale(amax, d, format.type).stored, expected.stored_scale()) << std::hex << amax;
            }
          }
        }
      }
    }
  }
}

TEST(Scales, Ue8m0BytesSpanTheStatedRanges) {
  const auto spans = [](const Dialect& d, Fp8 type, std::uint32_t low, std::uint32_t high) {
    const Range range = bytes_of(d, type);
    EXPECT_EQ(range.low, low);
    EXPECT_EQ(range.high, high);
    EXPECT_EQ(range.reached.size(), high - low + 1);  // no gap
  };
  spans(dialect("strict", Layout::flashmla), Fp8::e4m3fn, 105, 247);
  spans(dialect("sglang-triton", Layout::flashmla), Fp8::e4m3fn, 92, 247);
  spans(dialect("flashmla", Layout::flashmla), Fp8::e4m3fn, 114, 247);
  spans(dialect("sglang-triton", Layout::flashmla), Fp8::e4m3fnuz, 93, 248);  // limit 240, floor 1e-8
  spans(dialect("vllm-cuda", Layout::flashmla), Fp8::e4m3fnuz, 106, 248);     // limit 224, floor 1e-4
  EXPECT_EQ(dialect_limit(dialect("sglang-triton", Layout::flashmla), Fp8::e4m3fnuz), 240);
  EXPECT_EQ(dialect_limit(dialect("vllm-cuda", Layout::flashmla), Fp8::e4m3fnuz), 224);
}

TEST(Scales, FiniteInputNeverReachesBytes254And255) {
  for (const NamedDialect& entry : dialects()) {
    for (const Format& format : formats) {
      Dialect d = entry.dialect;
      d.scale = Scale::ue8m0;
      d.fnuz_limit = format.type == Fp8::e4m3fn ? d.fnuz_limit : format.limit;
      EXPECT_LT(tile_scale(0x7F7FFFFFU, d, format.type).stored, 254U) << entry.name;  // scales grow with amax
    }
  }
}

TEST(Scales, AnAllZeroTileTellsTheFloorsApart) {
  EXPECT_EQ(tile_scale(0, dialect("strict", Layout::flashmla), Fp8::e4m3fn).stored, 105U);
  EXPECT_EQ(tile_scale(0, dialect("sglang-triton", Layout::flashmla), Fp8::e4m3fn).stored, 92U);
  EXPECT_EQ(tile_scale(0, dialect("flashmla", Layout::flashmla), Fp8::e4m3fn).stored, 114U);
}

struct Difference {
  int count = 0;
  std::uint32_t largest = 0;
};

Difference between(const Dialect& one, const Dialect& other) {
  Difference difference;
  for (std::uint32_t bf16 = 0; bf16 < finite_amax_count; ++bf16) {
    if (tile_scale(amax_of(bf16), one, Fp8::e4m3fn).stored != tile_scale(amax_of(bf16), other, Fp8::e4m3fn).stored) {
      ++difference.count;
      difference.largest = bf16;
    }
  }
  return difference;
}

TEST(Scales, StrictDiffersFromOtherFloorsOnTheStatedAmax) {
  const Difference triton = between(dialect("strict", Layout::flashmla), dialect("sglang-triton", Layout::flashmla));
  EXPECT_EQ(triton.count, 14433);
  EXPECT_EQ(triton.largest, 0x3860U);
  EXPECT_FLOAT_EQ(std::bit_cast<float>(amax_of(triton.largest)), 5.3405762e-05F);
  const Difference flashmla = between(dialect("strict", Layout::flashmla), dialect("flashmla", Layout::flashmla));
  EXPECT_EQ(flashmla.count, 15585);
  EXPECT_EQ(std::bit_cast<float>(amax_of(flashmla.largest)), 0.02734375F);
}

TEST(Scales, DividingAndMultiplyingByTheReciprocalDifferByOneUlpOn10036Of18094) {
  Dialect divide = dialect("strict", Layout::indexer);
  Dialect multiply = dialect("deepseek", Layout::indexer);
  ASSERT_EQ(f32_divide(0x3F800000U, 0x43E00000U), 0x3B124925U);  // fl(1 / 448)
  int above_floor = 0;
  int differ = 0;
  for (std::uint32_t bf16 = 0; bf16 < finite_amax_count; ++bf16) {
    if (amax_of(bf16) >= divide.floor_value) {
      const auto one = static_cast<std::int64_t>(tile_scale(amax_of(bf16), divide, Fp8::e4m3fn).stored);
      const auto other = static_cast<std::int64_t>(tile_scale(amax_of(bf16), multiply, Fp8::e4m3fn).stored);
      ++above_floor;
      differ += one != other ? 1 : 0;
      ASSERT_LE(std::abs(one - other), 1) << bf16;
    }
  }
  EXPECT_EQ(above_floor, 18094);
  EXPECT_EQ(differ, 10036);
}

TEST(Scales, ForBf16EveryRatioRuleGivesTheSameByte) {
  for (const Format& format : formats) {
    for (const Floor floor : {Floor::none, Floor::amax, Floor::ratio}) {
      Dialect divide;
      divide.floor = floor;
      divide.fnuz_limit = format.type == Fp8::e4m3fn ? 240 : format.limit;
      Dialect multiply = divide;
      multiply.ratio = Ratio::multiply_reciprocal;
      for (std::uint32_t bf16 = 0; bf16 < finite_amax_count; ++bf16) {
        ASSERT_EQ(tile_scale(amax_of(bf16), divide, format.type).stored,
                  tile_scale(amax_of(bf16), multiply, format.type).stored)
            << "limit " << format.limit << ", amax " << std::hex << bf16;
      }
    }
  }
}

TEST(Scales, OnlyAmaxOfSevenQuartersSitsOnABinadeEdge) {
  int on_edge = 0;
  double nearest_other = 1;
  for (std::uint32_t bf16 = 0; bf16 < finite_amax_count; ++bf16) {
    const double amax = static_cast<double>(std::bit_cast<float>(amax_of(bf16)));
    if (amax < 1e-8) {
      continue;
    }
    const double ratio = amax / 448;
    int exponent = 0;
    const double fraction = std::frexp(ratio, &exponent);  // in [0.5, 1)
    if (fraction == 0.5) {
      ++on_edge;
      EXPECT_EQ(bf16 & 0x7FU, 0x60U);
      EXPECT_EQ(f32_to_ue8m0(f32_divide(amax_of(bf16), 0x43E00000U)), exponent - 1 + 127);
    } else {
      EXPECT_NE(bf16 & 0x7FU, 0x60U);
      nearest_other = std::min({nearest_other, 2 * fraction - 1, 1 - fraction});
    }
  }
  EXPECT_EQ(on_edge, 155);
  EXPECT_NEAR(nearest_other, 1.0 / 224, 1e-12);
}

// Amax just above 448 * 2^k: a correctly rounded log2 loses what lies above the whole number, the more the larger |k|.
TEST(Scales, ACorrectlyRoundedLog2IsOneBinadeLowWhereTheBitRuleIsNot) {
  const Dialect& strict = find_dialect("strict", Layout::flashmla)->dialect;
  constexpr F32 ulps = 100;
  // How many of the first amax above the edge come out one binade low; they lie next to it, without a gap.
  const auto low_by_log2 = [](int k) {
    const F32 edge = std::bit_cast<F32>(std::ldexp(448.0F, k));
    F32 low = 0;
    for (F32 ulp = 1; ulp <= ulps; ++ulp) {
      const float ratio = std::bit_cast<float>(edge + ulp) / 448.0F;
      const auto rounded_log = static_cast<float>(std::log2(static_cast<long double>(ratio)));
      const bool is_low = std::ceil(rounded_log) == static_cast<float>(k);
      EXPECT_EQ(is_low, ulp <= low + (is_low ? 1U : 0U)) << "k " << k << ", " << ulp << " ulp";
      low += is_low ? 1U : 0U;
    }
    return low;
  };
  F32 most = 0;
  int compared = 0;
  for (int k = -22; k <= 119; ++k) {
    const F32 edge = std::bit_cast<F32>(std::ldexp(448.0F, k));
    for (F32 ulp = 1; ulp <= ulps; ++ulp, ++compared) {
      ASSERT_EQ(tile_scale(edge + ulp, strict, Fp8::e4m3fn).stored, static_cast<F32>(k + 128)) << k << ", " << ulp << " ulp";
    }
    ASSERT_EQ(tile_scale(edge, strict, Fp8::e4m3fn).stored, static_cast<F32>(k + 127)) << k;
    most = std::max(most, low_by_log2(k));
  }
  EXPECT_EQ(compared, 142 * 100);
  EXPECT_EQ(most, 39U);
  const std::pair<int, F32> stated[] = {{0, 0},   {3, 0},   {4, 2},   {7, 2},    {8, 4},  {16, 9}, {31, 9},
                                        {32, 20}, {63, 20}, {64, 39}, {119, 39}, {-4, 0}, {-8, 2}, {-22, 9}};
  for (const auto& [k, low] : stated) {
    EXPECT_EQ(low_by_log2(k), low) << k;
  }
}

TEST(Scales, TheIndexersLargestElementAlwaysEncodesToMax) {
  const Dialect& strict = dialect("strict", Layout::indexer);
  int compared = 0;
  int above = 0;
  for (std::uint32_t bf16 = 0; bf16 < finite_amax_count; ++bf16) {
    const F32 amax = amax_of(bf16);
    if (amax < strict.floor_value) {
      continue;
    }
    const TileScale scale = tile_scale(amax, strict, Fp8::e4m3fn);
    const float reciprocal = 1.0F / std::bit_cast<float>(scale.stored);
    above += std::bit_cast<float>(amax) * reciprocal > 448.0F ? 1 : 0;
    EXPECT_EQ(quantise(amax, scale, strict, Fp8::e4m3fn, 0x7E), 0x7E) << bf16;
    EXPECT_EQ(quantise(amax | f32_sign_bit, scale, strict, Fp8::e4m3fn, 0x7E), 0xFE) << bf16;
    ++compared;
  }
  EXPECT_EQ(compared, 18094);
  EXPECT_EQ(above, 4383);
}

}  // namespace
}  // namespace kvproof
