// The oracle itself: what it says of batches that are small enough to say by hand, and what it refuses.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "kvproof/device/error.h"
#include "kvproof/oracle/nearest.h"
#include "kvproof/oracle/store.h"
#include "kvproof/reference/dialects.h"

namespace kvproof {
namespace {

Case batch(Layout layout, std::vector<std::int64_t> indices) {
  Case run;
  run.shape.layout = layout;
  run.shape.tokens = static_cast<std::int64_t>(indices.size());
  run.shape.row_stride = run.shape.row_bytes();
  run.shape.pages = 2;
  run.shape.page_size = 2;
  run.shape.page_stride = production_page_stride(layout, 2);
  run.input.assign(static_cast<std::size_t>(run.shape.input_bytes()), 0);
  run.indices = std::move(indices);
  return run;
}

void set(Case& run, std::int64_t token, std::int64_t value, std::uint16_t bf16) {
  const auto at = static_cast<std::size_t>(token * run.shape.row_stride + 2 * value);
  run.input[at] = static_cast<std::uint8_t>(bf16);
  run.input[at + 1] = static_cast<std::uint8_t>(bf16 >> 8);
}

const Dialect& dialect(std::string_view name, Layout layout) { return find_dialect(name, layout)->dialect; }

TEST(Oracle, AnIndexerRowIsItsCodesAndItsScale) {
  Case run = batch(Layout::indexer, {3});
  set(run, 0, 0, 0x43E0);  // 448: scale 1
  set(run, 0, 1, 0xBF80);  // -1
  const auto units = oracle_store(run, dialect("strict", Layout::indexer));
  ASSERT_EQ(units.size(), 2U);
  std::vector<std::uint8_t> codes(128, 0);
  codes[0] = 0x7E;
  codes[1] = 0xB8;
  EXPECT_EQ(units[0], (OracleUnit{264 + 128, {codes}}));
  EXPECT_EQ(units[1], (OracleUnit{264 + 256 + 4, {{0x00, 0x00, 0x80, 0x3F}}}));
}

TEST(Oracle, DuplicatesContendUnitByUnitInTokenOrder) {
  Case run = batch(Layout::flashmla, {1, 1});
  set(run, 0, 64, 0x43E0);
  set(run, 1, 511, 0x1234);
  const auto units = oracle_store(run, dialect("vllm-triton", Layout::flashmla));
  ASSERT_EQ(units.size(), 16U);  // 7 tiles, the rope, 7 scales, the written pad byte
  EXPECT_EQ(units[1].offset, 576 + 64);
  ASSERT_EQ(units[1].contenders.size(), 2U);
  EXPECT_EQ(units[1].contenders[0][0], 0x7E);
  EXPECT_EQ(units[1].contenders[1][0], 0x00);
  EXPECT_EQ(units[7].offset, 576 + 448);
  EXPECT_EQ(units[7].contenders[1][126], 0x34);
  EXPECT_EQ(units[9], (OracleUnit{1152 + 8 + 1, {{127}, {105}}}));
  EXPECT_EQ(units[15], (OracleUnit{1152 + 8 + 7, {{0}, {0}}}));
  EXPECT_EQ(oracle_store(run, dialect("strict", Layout::flashmla)).size(), 15U);
}

TEST(Oracle, SkippedTokensGiveNothing) {
  EXPECT_TRUE(oracle_store(batch(Layout::flashmla, {-1, 4}), dialect("strict", Layout::flashmla)).empty());
  EXPECT_TRUE(oracle_store(batch(Layout::flashmla, {}), dialect("strict", Layout::flashmla)).empty());
}

TEST(Oracle, WhatIsOutsideTheContractIsRefused) {
  const auto refuses = [](const Case& run, const Dialect& d) { EXPECT_THROW(oracle_store(run, d), BadInput); };
  refuses(batch(Layout::flashmla, {-1}), dialect("deepseek", Layout::flashmla));
  refuses(batch(Layout::flashmla, {-1}), dialect("sglang-triton", Layout::flashmla));
  refuses(batch(Layout::flashmla, {4}), dialect("vllm-cuda", Layout::flashmla));
  refuses(batch(Layout::flashmla, {-2}), dialect("vllm-triton", Layout::flashmla));
  refuses(batch(Layout::indexer, {0}), dialect("strict", Layout::flashmla));
  Case run = batch(Layout::flashmla, {0});
  set(run, 0, 5, 0x7FC0);
  refuses(run, dialect("aiter", Layout::flashmla));
  set(run, 0, 5, 0x7F80);
  refuses(run, dialect("vllm-cuda", Layout::flashmla));
  run.input.pop_back();
  refuses(run, dialect("strict", Layout::flashmla));
}

TEST(Oracle, ABlockOfPatternsFindsWhatASearchOfEveryCodeFinds) {
  for (const auto& [type, limit] :
       {std::pair{Fp8::e4m3fn, 448}, std::pair{Fp8::e4m3fnuz, 240}, std::pair{Fp8::e4m3fnuz, 224}}) {
    const oracle::NearestCode nearest(type, limit);
    std::int64_t compared = 0;
    for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += 0x80000) {
      for (const std::uint32_t start : {0U, 0x40000U - 16, 0x7FFE0U}) {
        std::uint8_t codes[32];
        const auto pattern = static_cast<std::uint32_t>(first) + start;
        nearest.of_patterns(pattern, 32, codes);
        for (std::uint32_t i = 0; i < 32; ++i, ++compared) {
          ASSERT_EQ(codes[i], nearest.of(static_cast<double>(std::bit_cast<float>(pattern + i)))) << std::hex << pattern + i;
        }
      }
    }
    EXPECT_EQ(compared, 8192 * 3 * 32);
  }
}

}  // namespace
}  // namespace kvproof
