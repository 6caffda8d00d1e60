// The table of dialects, said a second time, and what may not be combined.
#include "kvproof/reference/dialects.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

constexpr F32 ten_to_minus_4 = 0x38D1B717U;
constexpr F32 ten_to_minus_8 = 0x322BCC77U;

struct Row {
  std::string_view name;
  Layout layout;
  Floor floor;
  F32 floor_value;
  Ratio ratio;
  Scale scale;
  Quantise quantise;
  Pad pad;
  InvalidIndex invalid;
  NanCode nan = NanCode::unstated;
  Infinity infinity = Infinity::unstated;
  int fnuz_limit = 0;  // 0: the port stores no e4m3fnuz
};

const std::vector<Row>& stated() {
  using enum Layout;
  constexpr auto amax = Floor::amax;
  constexpr auto on_ratio = Floor::ratio;
  constexpr auto divide = Ratio::divide;
  constexpr auto times_reciprocal = Ratio::multiply_reciprocal;
  constexpr auto shift = Quantise::power_of_two;
  constexpr auto product = Quantise::multiply_reciprocal;
  constexpr auto quotient = Quantise::divide;
  constexpr auto keep = Pad::keep;
  constexpr auto written = Pad::zero;
  using enum InvalidIndex;
  constexpr F32 e4 = ten_to_minus_4;
  constexpr F32 e8 = ten_to_minus_8;
  constexpr auto byte = Scale::ue8m0;
  constexpr auto raw = Scale::fp32;
  constexpr auto power = Scale::fp32_power_of_two;
  constexpr auto largest = Infinity::as_largest_bf16;
  constexpr auto minus_inverse = Infinity::negative_inverse;
  constexpr auto byte_126 = Infinity::zero_inverse_byte_126;
  static const std::vector<Row> rows{
      {"strict", flashmla, amax, e4, divide, byte, shift, keep, outside, NanCode::nan, largest, 240},
      {"strict", indexer, amax, e4, divide, raw, product, keep, outside, NanCode::nan, largest, 240},
      {"deepseek", flashmla, amax, e4, times_reciprocal, byte, quotient, keep, precondition},
      {"deepseek", indexer, amax, e4, times_reciprocal, raw, quotient, keep, precondition},
      {"sglang-cuda", flashmla, amax, e4, divide, byte, shift, keep, unguarded, NanCode::nan, minus_inverse},
      {"sglang-cuda", indexer, amax, e4, divide, raw, product, keep, unguarded, NanCode::nan, minus_inverse},
      {"sglang-cuda-clip", flashmla, amax, e4, divide, byte, shift, keep, unguarded, NanCode::plus_max, minus_inverse},
      {"sglang-cuda-clip", indexer, amax, e4, divide, raw, product, keep, unguarded, NanCode::plus_max, minus_inverse},
      {"sglang-triton", flashmla, amax, e8, times_reciprocal, byte, shift, keep, unguarded, NanCode::plus_max, byte_126,
       240},
      {"sglang-triton", indexer, amax, e8, times_reciprocal, raw, product, keep, unguarded, NanCode::plus_max, byte_126,
       240},
      {"flashmla", flashmla, on_ratio, e4, divide, byte, quotient, keep, precondition},
      {"vllm-cuda", flashmla, amax, e4, divide, byte, shift, written, negative, NanCode::minus_max, Infinity::unstated, 224},
      {"vllm-triton", flashmla, amax, e4, divide, byte, shift, written, minus_one},
      {"vllm-indexer", indexer, amax, e4, divide, raw, quotient, keep, negative},
      {"vllm-indexer-ue8m0", indexer, amax, e4, divide, power, quotient, keep, negative},
      {"deepgemm", indexer, amax, e4, divide, raw, product, keep, precondition},
      {"tokenspeed", flashmla, amax, e4, times_reciprocal, byte, shift, written, negative},
      {"lmdeploy", flashmla, on_ratio, e4, divide, byte, quotient, keep, negative},
      {"lmdeploy", indexer, amax, e4, divide, power, product, keep, negative},
      {"aiter", flashmla, amax, e4, divide, byte, quotient, written, negative, NanCode::unstated, Infinity::unstated, 240},
      {"aiter", indexer, amax, e4, divide, raw, product, keep, negative, NanCode::unstated, Infinity::unstated, 240},
  };
  return rows;
}

TEST(Dialects, EveryFieldIsAsStated) {
  ASSERT_EQ(dialects().size(), stated().size());
  for (const Row& row : stated()) {
    SCOPED_TRACE(std::string(row.name) + " " + std::string(name_of(row.layout)));
    const NamedDialect* entry = find_dialect(row.name, row.layout);
    ASSERT_NE(entry, nullptr);
    const Dialect& d = entry->dialect;
    EXPECT_EQ(d.layout, row.layout);
    EXPECT_EQ(d.floor, row.floor);
    EXPECT_EQ(d.floor_value, row.floor_value);
    EXPECT_EQ(d.ratio, row.ratio);
    EXPECT_EQ(d.scale, row.scale);
    EXPECT_EQ(d.quantise, row.quantise);
    EXPECT_EQ(d.pad, row.pad);
    EXPECT_EQ(d.invalid, row.invalid);
    EXPECT_EQ(d.nan, row.nan);
    EXPECT_EQ(d.infinity, row.infinity);
    EXPECT_EQ(entry->fnuz, row.fnuz_limit != 0);
    if (row.fnuz_limit != 0) {
      EXPECT_EQ(d.fnuz_limit, row.fnuz_limit);
    }
    const bool triton = row.name == "sglang-triton";  // truncating division, 32-bit offsets
    EXPECT_EQ(d.division, triton ? Division::truncate : Division::floor);
    EXPECT_EQ(d.index_width, Width::bits64);
    EXPECT_EQ(d.offset_width, triton ? Width::int32 : Width::bits64);
    EXPECT_EQ(d.reciprocal_ulp, triton && d.scale == Scale::fp32 ? 1 : 0);  // the approximate reciprocal of a raw scale
    EXPECT_EQ(dialect_contradiction(d), std::nullopt);
    EXPECT_FALSE(entry->note.empty());
  }
}

TEST(Dialects, FloorsAreTheFloatsTheySayTheyAre) {
  EXPECT_EQ(ten_to_minus_4, std::bit_cast<F32>(1e-4F));
  EXPECT_EQ(ten_to_minus_8, std::bit_cast<F32>(1e-8F));
}

TEST(Dialects, UnknownNamesAndLayoutsAreNotFound) {
  EXPECT_EQ(find_dialect("Strict", Layout::flashmla), nullptr);
  EXPECT_EQ(find_dialect("", Layout::flashmla), nullptr);
  EXPECT_EQ(find_dialect("deepgemm", Layout::flashmla), nullptr);
  EXPECT_EQ(find_dialect("vllm-cuda", Layout::indexer), nullptr);
  EXPECT_EQ(
      dialect_names(),
      "strict, deepseek, sglang-cuda, sglang-cuda-clip, sglang-triton, flashmla, vllm-cuda, vllm-triton, vllm-indexer, "
      "vllm-indexer-ue8m0, deepgemm, tokenspeed, lmdeploy, aiter");
}

// What dialect_contradiction says of the strict dialect with one change.
template <class Change>
std::string objection(Layout layout, Change change) {
  Dialect d = find_dialect("strict", layout)->dialect;
  change(d);
  return dialect_contradiction(d).value_or("none");
}

TEST(Dialects, ContradictionsNameTheFieldAndWhatWasExpected) {
  const auto contains = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
  const auto f = Layout::flashmla;
  const auto i = Layout::indexer;
  EXPECT_EQ(objection(f, [](Dialect&) {}), "none");
  EXPECT_TRUE(contains(objection(f, [](Dialect& d) { d.scale = Scale::fp32; }), "expected ue8m0"));
  EXPECT_TRUE(contains(objection(i, [](Dialect& d) { d.scale = Scale::ue8m0; }), "expected fp32 or fp32_power_of_two"));
  EXPECT_TRUE(contains(objection(i, [](Dialect& d) { d.quantise = Quantise::power_of_two; }), "power-of-two scale"));
  EXPECT_TRUE(contains(objection(f, [](Dialect& d) { d.fnuz_limit = 448; }), "448: expected 240 or 224"));
  EXPECT_TRUE(contains(objection(f, [](Dialect& d) { d.floor_value = 0; }), "floor value"));
  EXPECT_TRUE(contains(objection(f, [](Dialect& d) { d.floor_value = 0x80000001U; }), "floor value"));
  EXPECT_TRUE(contains(objection(f, [](Dialect& d) { d.floor_value = f32_infinity; }), "floor value"));
  EXPECT_TRUE(contains(objection(i, [](Dialect& d) { d.pad = Pad::zero; }), "no pad byte"));
  EXPECT_TRUE(contains(objection(f, [](Dialect& d) { d.reciprocal_ulp = 5; }), "expected 0 to 4"));
  EXPECT_TRUE(contains(objection(f, [](Dialect& d) { d.reciprocal_ulp = -1; }), "expected 0 to 4"));
}

template <class Enum>
void every_name_comes_back() {
  for (std::size_t value = 0; value < Names<Enum>::values.size(); ++value) {
    const auto one = static_cast<Enum>(value);
    EXPECT_EQ(named<Enum>(name_of(one)), one) << name_of(one);
  }
  EXPECT_EQ(named<Enum>("nonsense"), std::nullopt);
}

TEST(Dialects, EveryNameComesBackAsItsChoice) {
  every_name_comes_back<Layout>();
  every_name_comes_back<ElementType>();
  every_name_comes_back<IndexType>();
  every_name_comes_back<Fp8>();
  every_name_comes_back<Floor>();
  every_name_comes_back<Ratio>();
  every_name_comes_back<Scale>();
  every_name_comes_back<Quantise>();
  every_name_comes_back<Pad>();
  every_name_comes_back<InvalidIndex>();
  every_name_comes_back<Division>();
  every_name_comes_back<Width>();
  every_name_comes_back<NanCode>();
  every_name_comes_back<Infinity>();
  every_name_comes_back<Region>();
  EXPECT_EQ(name_of(InvalidIndex::outside), "outside");
  EXPECT_EQ(name_of(Infinity::zero_inverse_byte_126), "zero_inverse_byte_126");
  EXPECT_EQ(named<Width>("int32"), Width::int32);
}

}  // namespace
}  // namespace kvproof
