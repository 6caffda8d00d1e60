// A case outside a dialect's contract is refused, and only that one.
#include "kvproof/properties/contract.h"

#include <gtest/gtest.h>

#include "kvproof/reference/dialects.h"

namespace kvproof {
namespace {

const Dialect& dialect(std::string_view name) { return find_dialect(name, Layout::flashmla)->dialect; }

// One row of ones with one other value.
Case row_with(ElementType type, int value, std::uint32_t pattern) {
  Case c;
  c.shape.input_type = type;
  c.shape.tokens = 1;
  c.shape.pages = 1;
  c.shape.page_size = 2;
  c.shape.page_stride = production_page_stride(Layout::flashmla, 2);
  c.shape.row_stride = c.shape.row_bytes();
  c.indices = {0};
  c.input.resize(static_cast<std::size_t>(c.shape.input_bytes()));
  for (int byte = 0; byte < element_bytes(type); ++byte) {
    c.input[static_cast<std::size_t>(value * element_bytes(type) + byte)] = static_cast<std::uint8_t>(pattern >> (8 * byte));
  }
  return c;
}

TEST(Contract, NonFiniteCodesNeedADialectThatStatesThem) {
  const Case nan = row_with(ElementType::bf16, 447, 0xFF81);
  const Case infinity = row_with(ElementType::fp32, 3, 0x7F800000U);
  EXPECT_EQ(contract_breach(nan, dialect("strict")), std::nullopt);
  EXPECT_EQ(contract_breach(infinity, dialect("strict")), std::nullopt);
  EXPECT_EQ(contract_breach(nan, dialect("vllm-triton")),
            "token 0 value 447 is NaN: the dialect does not state what that gives");
  EXPECT_EQ(contract_breach(infinity, dialect("vllm-triton")),
            "token 0 value 3 is infinite: the dialect does not state what that gives");
  EXPECT_EQ(contract_breach(nan, dialect("vllm-cuda")), std::nullopt);  // states NaN, not infinity
  EXPECT_NE(contract_breach(infinity, dialect("vllm-cuda")), std::nullopt);
}

TEST(Contract, ABf16RopeIsBitsInEveryDialect) {
  for (const std::uint32_t pattern : {0x7F81U, 0xFFFFU, 0x7F80U}) {
    EXPECT_EQ(contract_breach(row_with(ElementType::bf16, 448, pattern), dialect("vllm-triton")), std::nullopt);
  }
  EXPECT_NE(contract_breach(row_with(ElementType::fp16, 511, 0x7C01), dialect("vllm-triton")), std::nullopt);
  EXPECT_EQ(contract_breach(row_with(ElementType::fp16, 511, 0x7C00), dialect("vllm-triton")), std::nullopt);
  EXPECT_EQ(contract_breach(row_with(ElementType::fp16, 511, 0x7C01), dialect("strict")), std::nullopt);
}

TEST(Contract, APoolBeyondNarrowOffsetsIsOutside) {
  Case c = row_with(ElementType::bf16, 0, 0);
  c.shape.page_stride = std::int64_t{1} << 30;
  c.shape.pages = 2;
  EXPECT_EQ(contract_breach(c, dialect("sglang-triton")), std::nullopt);
  c.shape.pages = 3;
  EXPECT_EQ(contract_breach(c, dialect("sglang-triton")),
            "a pool of 3221225472 bytes: the dialect computes offsets in 32 bits, expected at most 2147483648");
  EXPECT_EQ(contract_breach(c, dialect("strict")), std::nullopt);
}

}  // namespace
}  // namespace kvproof
