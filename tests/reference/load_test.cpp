// Codes and scales back to values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kvproof/oracle/code_table.h"
#include "kvproof/oracle/elements.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/model.h"
#include "random_case.h"

namespace kvproof {
namespace {

bool same(F32 pattern, float expected) {
  return std::isnan(expected) ? f32_is_nan(pattern) : pattern == std::bit_cast<F32>(expected);
}

// A pool of any bytes at all: every code and every scale means something.
TEST(Load, EveryValueOfRandomPoolsIsCodeTimesScale) {
  Random random(21);
  std::int64_t compared = 0;
  for (int round = 0; round < 60; ++round) {
    for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
      for (const Fp8 fp8 : {Fp8::e4m3fn, Fp8::e4m3fnuz}) {
        StoreShape shape;
        shape.layout = layout;
        shape.fp8 = fp8;
        shape.pages = 2;
        shape.page_size = draw(random, 1, 5);
        shape.page_stride = smallest_page_stride(layout, shape.page_size) + draw(random, 0, 99);
        std::vector<std::uint8_t> pool(static_cast<std::size_t>(shape.pool_bytes()));
        for (std::uint8_t& byte : pool) {
          byte = static_cast<std::uint8_t>(random());
        }
        const bool flashmla = layout == Layout::flashmla;
        for (std::int64_t page = 0; page < 2; ++page) {
          for (std::int64_t slot = 0; slot < shape.page_size; ++slot) {
            const std::uint8_t* data = pool.data() + page * shape.page_stride + slot * (flashmla ? 576 : 128);
            const std::uint8_t* scales = pool.data() + page * shape.page_stride + shape.page_size * (flashmla ? 576 : 128) +
                                         slot * (flashmla ? 8 : 4);
            std::vector<F32> values(static_cast<std::size_t>(flashmla ? 512 : 128));
            model::load_row(pool.data(), shape, page, slot, values.data());
            for (int i = 0; i < (flashmla ? 448 : 128); ++i, ++compared) {
              float scale = 0;
              if (flashmla) {
                scale = scales[i / 64] == 255 ? std::nanf("") : std::ldexp(1.0F, scales[i / 64] - 127);
              } else {
                std::memcpy(&scale, scales, sizeof scale);
              }
              const float expected = static_cast<float>(oracle::code_values(fp8)[data[i]]) * scale;
              ASSERT_TRUE(same(values[static_cast<std::size_t>(i)], expected)) << i;
            }
            for (int i = 448; i < (flashmla ? 512 : 0); ++i, ++compared) {
              std::uint16_t rope = 0;
              std::memcpy(&rope, data + 448 + 2 * (i - 448), sizeof rope);
              ASSERT_EQ(values[static_cast<std::size_t>(i)], static_cast<F32>(rope) << 16);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 200'000);
}

// What is stored comes back within half a unit of the code, and the rope comes back as it was.
TEST(Load, StoredRowsComeBackWithinHalfAUnit) {
  Random random(22);
  std::int64_t compared = 0;
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    const Dialect& strict = find_dialect("strict", layout)->dialect;
    Dialect finite = strict;
    finite.nan = NanCode::unstated;
    finite.infinity = Infinity::unstated;
    for (int round = 0; round < 300; ++round) {
      Case run = random_case(random, finite, ElementType::bf16, IndexType::int64, Fp8::e4m3fn);
      std::vector<std::uint8_t> pool(static_cast<std::size_t>(run.shape.pool_bytes()));
      model::store(run.shape, strict, run.input.data(), bytes_of_indices(run).data(), pool.data());
      if (run.shape.tokens == 0 || run.indices.back() < 0 || run.indices.back() >= run.shape.capacity()) {
        continue;
      }
      const std::int64_t index = run.indices.back();  // the last token stays whatever came before
      const std::uint8_t* row = run.input.data() + (run.shape.tokens - 1) * run.shape.row_stride;
      std::vector<F32> values(512);
      model::load_row(pool.data(), run.shape, index / run.shape.page_size, index % run.shape.page_size, values.data());
      const LayoutShape shape = layout_shape(layout);
      for (int tile = 0; tile < shape.tiles; ++tile) {
        double amax = 1e-4;
        for (int i = tile * shape.tile; i < (tile + 1) * shape.tile; ++i) {
          amax = std::max(amax, std::abs(static_cast<double>(oracle::element_value(row, ElementType::bf16, i))));
        }
        // Half a unit of a code is at most 1/16 of its value, or half of the smallest code's 2^-9, times a scale < amax/224.
        for (int i = tile * shape.tile; i < (tile + 1) * shape.tile; ++i, ++compared) {
          const auto x = static_cast<double>(oracle::element_value(row, ElementType::bf16, i));
          const auto y = static_cast<double>(std::bit_cast<float>(values[static_cast<std::size_t>(i)]));
          ASSERT_LE(std::abs(x - y), std::max(std::abs(x) / 16, amax / 224 / 1024) * (1 + 1e-6)) << i;
        }
      }
      for (int i = shape.codes; i < shape.row_values; ++i) {
        ASSERT_EQ(values[static_cast<std::size_t>(i)],
                  element_to_f32(element_bits(row, ElementType::bf16, i), ElementType::bf16));
      }
    }
  }
  EXPECT_GT(compared, 20'000);
}

}  // namespace
}  // namespace kvproof
