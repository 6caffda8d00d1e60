// NaN and infinite input, one test a row of what each dialect states.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kvproof/reference/dialects.h"
#include "kvproof/reference/model.h"

namespace kvproof {
namespace {

constexpr std::uint16_t one = 0x3F80;
constexpr std::uint16_t minus_two = 0xC000;
constexpr std::uint16_t zero = 0x0000;
constexpr std::uint16_t minus_zero = 0x8000;
constexpr std::uint16_t nan = 0x7FC1;
constexpr std::uint16_t minus_nan = 0xFFA5;
constexpr std::uint16_t infinity = 0x7F80;
constexpr std::uint16_t minus_infinity = 0xFF80;

// A row whose first tile begins with `first`; the rest is 1.
std::vector<std::uint16_t> row_with(std::initializer_list<std::uint16_t> first) {
  std::vector<std::uint16_t> row(512, one);
  std::copy(first.begin(), first.end(), row.begin());
  return row;
}

RowImage encoded(const std::vector<std::uint16_t>& row, std::string_view name, Layout layout, Fp8 fp8 = Fp8::e4m3fn) {
  RowImage image;
  model::encode_row(reinterpret_cast<const std::uint8_t*>(row.data()), ElementType::bf16,
                    find_dialect(name, layout)->dialect, fp8, &image);
  return image;
}

F32 fp32_scale(const RowImage& image) {
  F32 scale = 0;
  std::memcpy(&scale, image.scales, sizeof scale);
  return scale;
}

std::vector<int> first_codes(const RowImage& image, int count) { return {image.data, image.data + count}; }

using Codes = std::vector<int>;

TEST(NonFinite, StrictLeavesNanOutOfAmaxAndWritesTheNanCode) {
  const auto row = row_with({nan, minus_nan, minus_two});
  const RowImage flashmla = encoded(row, "strict", Layout::flashmla);
  EXPECT_EQ(flashmla.scales[0], 120);                                    // 2 / 448 rounds up to 2^-7
  EXPECT_EQ(first_codes(flashmla, 4), (Codes{0x7F, 0x7F, 0xF8, 0x70}));  // -256 and 128
  EXPECT_EQ(flashmla.scales[1], 119);                                    // the next tile knows nothing of it
  const RowImage indexer = encoded(row, "strict", Layout::indexer);
  EXPECT_EQ(fp32_scale(indexer), f32_divide(0x40000000U, 0x43E00000U));
  EXPECT_EQ(first_codes(indexer, 4), (Codes{0x7F, 0x7F, 0xFE, 0x76}));  // -448 and 224
  const RowImage fnuz = encoded(row, "strict", Layout::flashmla, Fp8::e4m3fnuz);
  EXPECT_EQ(first_codes(fnuz, 2), (Codes{0x80, 0x80}));
}

TEST(NonFinite, StrictCountsInfinityAsTheLargestBf16) {
  const auto row = row_with({infinity, minus_infinity, nan, one, 0xBF80});
  const RowImage flashmla = encoded(row, "strict", Layout::flashmla);
  EXPECT_EQ(flashmla.scales[0], 247);
  EXPECT_EQ(first_codes(flashmla, 5), (Codes{0x7E, 0xFE, 0x7F, 0x00, 0x80}));
  const RowImage indexer = encoded(row, "strict", Layout::indexer);
  EXPECT_EQ(fp32_scale(indexer), f32_divide(0x7F7F0000U, 0x43E00000U));
  EXPECT_EQ(first_codes(indexer, 5), (Codes{0x7E, 0xFE, 0x7F, 0x00, 0x80}));
  const RowImage fnuz = encoded(row, "strict", Layout::flashmla, Fp8::e4m3fnuz);
  EXPECT_EQ(fnuz.scales[0], 248);
  EXPECT_EQ(first_codes(fnuz, 5), (Codes{0x7F, 0xFF, 0x80, 0x00, 0x00}));
}

TEST(NonFinite, StrictNeverWritesByte255) {
  for (const std::uint16_t value :
       {infinity, minus_infinity, nan, minus_nan, std::uint16_t{0x7F7F}, std::uint16_t{0xFF7F}}) {
    for (const Fp8 fp8 : {Fp8::e4m3fn, Fp8::e4m3fnuz}) {
      const RowImage image = encoded(std::vector<std::uint16_t>(512, value), "strict", Layout::flashmla, fp8);
      for (int tile = 0; tile < 7; ++tile) {
        EXPECT_NE(image.scales[tile], 255);
      }
    }
  }
}

TEST(NonFinite, ATileOfNanOnlyIsATileOfAmaxZero) {
  const std::vector<std::uint16_t> row(512, minus_nan);
  EXPECT_EQ(encoded(row, "strict", Layout::flashmla).scales[0], 105);
  EXPECT_EQ(encoded(row, "strict", Layout::flashmla).data[63], 0x7F);
  EXPECT_EQ(encoded(row, "strict", Layout::flashmla, Fp8::e4m3fnuz).data[63], 0x80);
  EXPECT_EQ(fp32_scale(encoded(row, "strict", Layout::indexer)), f32_divide(0x38D1B717U, 0x43E00000U));
}

TEST(NonFinite, StrictCopiesRopeBits) {
  std::vector<std::uint16_t> row(512, one);
  const std::uint16_t odd[] = {nan, minus_nan, 0x7F81, 0xFFFF, infinity, minus_infinity, minus_zero, 0x0001, 0x8001, 0x007F};
  std::copy(std::begin(odd), std::end(odd), row.begin() + 448);
  const RowImage image = encoded(row, "strict", Layout::flashmla);
  EXPECT_EQ(std::memcmp(image.data + 448, row.data() + 448, 128), 0);
  EXPECT_EQ(image.scales[6], 119);
}

TEST(NonFinite, SglangCudaTurnsTheInverseScaleIntoMinusInfinity) {
  const auto row = row_with({infinity, minus_infinity, one, minus_two, zero, minus_zero, nan});
  const RowImage flashmla = encoded(row, "sglang-cuda", Layout::flashmla);
  EXPECT_EQ(flashmla.scales[0], 255);
  EXPECT_EQ(first_codes(flashmla, 7), (Codes{0xFE, 0x7E, 0xFE, 0x7E, 0x7F, 0x7F, 0x7F}));  // signs turned
  EXPECT_EQ(flashmla.scales[1], 119);
  const RowImage indexer = encoded(row, "sglang-cuda", Layout::indexer);
  EXPECT_EQ(fp32_scale(indexer), 0x7F800000U);
  EXPECT_EQ(first_codes(indexer, 7), (Codes{0x7F, 0x7F, 0x00, 0x80, 0x00, 0x80, 0x7F}));
}

TEST(NonFinite, SglangCudaLeavesNanOutOfAmax) {
  const RowImage image = encoded(row_with({nan, minus_nan, minus_two}), "sglang-cuda", Layout::flashmla);
  EXPECT_EQ(image.scales[0], 120);
  EXPECT_EQ(first_codes(image, 4), (Codes{0x7F, 0x7F, 0xF8, 0x70}));
}

TEST(NonFinite, TheClippingSglangCudaEncodesNanToMax) {
  const RowImage image = encoded(row_with({nan, minus_nan, minus_two}), "sglang-cuda-clip", Layout::flashmla);
  EXPECT_EQ(first_codes(image, 4), (Codes{0x7E, 0x7E, 0xF8, 0x70}));
}

TEST(NonFinite, SglangTritonEncodesNanToMaxWhateverItsSign) {
  const RowImage image = encoded(row_with({nan, minus_nan, minus_two}), "sglang-triton", Layout::flashmla);
  EXPECT_EQ(image.scales[0], 120);
  EXPECT_EQ(first_codes(image, 4), (Codes{0x7E, 0x7E, 0xF8, 0x70}));
  EXPECT_EQ(encoded(std::vector<std::uint16_t>(512, minus_nan), "sglang-triton", Layout::flashmla).scales[0], 92);
}

TEST(NonFinite, SglangTritonWritesByte126ForInfinity) {
  const auto row = row_with({infinity, minus_infinity, one, minus_two, zero, minus_zero, nan});
  const RowImage flashmla = encoded(row, "sglang-triton", Layout::flashmla);
  EXPECT_EQ(flashmla.scales[0], 126);
  EXPECT_EQ(first_codes(flashmla, 7), (Codes{0x7E, 0x7E, 0x00, 0x80, 0x00, 0x80, 0x7E}));
  const RowImage indexer = encoded(row, "sglang-triton", Layout::indexer);
  EXPECT_EQ(fp32_scale(indexer), 0x7F800000U);
  EXPECT_EQ(first_codes(indexer, 7), (Codes{0x7E, 0x7E, 0x00, 0x80, 0x00, 0x80, 0x7E}));
}

TEST(NonFinite, VllmCudaEncodesNanToMinusMax) {
  EXPECT_EQ(first_codes(encoded(row_with({nan, minus_nan}), "vllm-cuda", Layout::flashmla), 2), (Codes{0xFE, 0xFE}));
  EXPECT_EQ(first_codes(encoded(row_with({nan, minus_nan}), "vllm-cuda", Layout::flashmla, Fp8::e4m3fnuz), 2),
            (Codes{0xFE, 0xFE}));
}

TEST(NonFinite, E4m3fnuzHasNoNegativeZero) {
  const auto row = row_with({0x4380, minus_zero, 0xB380, 0x8001});  // 256, -0, a tiny negative, the smallest negative
  EXPECT_EQ(first_codes(encoded(row, "strict", Layout::flashmla, Fp8::e4m3fnuz), 4), (Codes{0x78, 0x00, 0x00, 0x00}));
  EXPECT_EQ(first_codes(encoded(row, "strict", Layout::indexer, Fp8::e4m3fnuz), 4), (Codes{0x7F, 0x00, 0x00, 0x00}));
  EXPECT_EQ(first_codes(encoded(row, "strict", Layout::flashmla), 4), (Codes{0x78, 0x80, 0x80, 0x80}));
}

}  // namespace
}  // namespace kvproof
