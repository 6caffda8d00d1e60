// Every fp32 pattern there is, the model against the nearest-value search.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "kvproof/oracle/elements.h"
#include "kvproof/oracle/nearest.h"
#include "kvproof/reference/model.h"
#include "two_threads.h"

namespace kvproof {
namespace {

void every_pattern_takes_the_nearest_code(Fp8 type, int limit) {
  constexpr std::uint32_t searched_at_once = 4096;
  const oracle::NearestCode nearest(type, limit);
  Tally tally;
  for_all_patterns([&](std::uint32_t first, std::uint64_t count) {
    std::vector<F32> patterns(searched_at_once);
    std::vector<std::uint8_t> model(searched_at_once);
    std::vector<std::uint8_t> expected(searched_at_once);
    for (std::uint32_t at = 0; at < count; at += searched_at_once) {
      for (std::uint32_t i = 0; i < searched_at_once; ++i) {
        patterns[i] = first + at + i;
      }
      model::encode(patterns.data(), searched_at_once, type, limit, model.data());
      nearest.of_patterns(first + at, searched_at_once, expected.data());
      if (model != expected) {
        for (std::uint32_t i = 0; i < searched_at_once; ++i) {
          if (model[i] != expected[i]) {
            tally.difference(patterns[i]);
          }
        }
      }
      tally.count(searched_at_once);
    }
  });
  EXPECT_EQ(tally.compared(), 4294967296U);
  std::uint8_t found = 0;
  const F32 at = tally.first();
  model::encode(&at, 1, type, limit, &found);
  EXPECT_EQ(tally.differences(), 0U) << "first at pattern " << std::hex << at << ": model " << int{found} << ", nearest "
                                     << int{nearest.of(static_cast<double>(std::bit_cast<float>(at)))};
}

TEST(Exhaustive, EveryPatternTakesTheNearestE4m3fn) { every_pattern_takes_the_nearest_code(Fp8::e4m3fn, 448); }
TEST(Exhaustive, EveryPatternTakesTheNearestE4m3fnuzUpTo240) { every_pattern_takes_the_nearest_code(Fp8::e4m3fnuz, 240); }
TEST(Exhaustive, EveryPatternTakesTheNearestE4m3fnuzUpTo224) { every_pattern_takes_the_nearest_code(Fp8::e4m3fnuz, 224); }

TEST(Exhaustive, EveryPatternRoundsToTheBf16ThatHardwareAdditionGives) {
  Tally tally;
  for_all_patterns([&](std::uint32_t first, std::uint64_t count) {
    constexpr std::uint32_t rounded_at_once = 4096;
    std::vector<std::uint16_t> expected(rounded_at_once);
    for (std::uint32_t at = 0; at < count; at += rounded_at_once) {
      oracle::to_bf16_of_patterns(first + at, rounded_at_once, expected.data());
      for (std::uint32_t i = 0; i < rounded_at_once; ++i) {
        if (f32_to_bf16(first + at + i) != expected[i]) {
          tally.difference(first + at + i);
        }
      }
      tally.count(rounded_at_once);
    }
  });
  EXPECT_EQ(tally.compared(), 4294967296U);
  EXPECT_EQ(tally.differences(), 0U) << "first at pattern " << std::hex << tally.first();
}

}  // namespace
}  // namespace kvproof
