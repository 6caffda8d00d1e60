// What the production kernels refuse, one field at a time, and that a refusal writes nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "kvproof/device/memory.h"
#include "kvproof/reference/dialects.h"
#include "pool_comparison.h"

namespace kvproof {
namespace {

struct Refusal {
  std::string message;
  std::function<void(kvproof_store_call&)> change;
};

void expect_refusals(const std::vector<Subject>& subjects, const std::vector<Refusal>& refusals) {
  for (const Subject& subject : subjects) {
    const LayoutShape layout = layout_shape(subject.dialect.layout);
    const Trial trial = dense_trial(subject.dialect, Fp8::e4m3fn, ElementType::fp32, 3, 2);
    std::vector<float> input(static_cast<std::size_t>(3 * layout.row_values), 1.0F);
    const std::vector<std::int64_t> index{0, 1, 2};
    std::vector<std::uint8_t> pool(static_cast<std::size_t>(trial.shape.pool_bytes()), 0xAA);
    for (const Refusal& refusal : refusals) {
      kvproof_store_call call = store_call(trial, pool.data(), input.data(), index.data());
      refusal.change(call);
      const char* message = nullptr;
      EXPECT_EQ(subject.store(subject.state, &call, &message), KVPROOF_REFUSED) << refusal.message;
      ASSERT_NE(message, nullptr) << refusal.message;
      EXPECT_EQ(message, refusal.message);
      EXPECT_EQ(pool, std::vector<std::uint8_t>(pool.size(), 0xAA));
    }
  }
}

Subject strict(Layout layout) {
  for (const Subject& subject : builtin_host_subjects()) {
    if (subject.dialect_name == "strict" && subject.dialect.layout == layout) {
      return subject;
    }
  }
  throw std::runtime_error("no strict kernel");
}

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(Refusals, name_the_value_and_what_was_expected) {
  expect_refusals(
      builtin_host_subjects(),
      {{fmt::format("store call of 8 bytes: expected {}", sizeof(kvproof_store_call)), [](auto& call) { call.size = 8; }},
       {"input type 3: expected 0 (bf16), 1 (fp16) or 2 (fp32)", [](auto& call) { call.input_type = 3; }},
       {"index type 2: expected 0 (int32) or 1 (int64)", [](auto& call) { call.index_type = 2; }},
       {"fp8 type 7: expected 0 (e4m3fn) or 1 (e4m3fnuz)", [](auto& call) { call.fp8_type = 7; }},
       {"tokens -1: expected 0 or more", [](auto& call) { call.tokens = -1; }},
       {"pages -5: expected 0 or more", [](auto& call) { call.pages = -5; }},
       {"page size 0: expected 1 or more", [](auto& call) { call.page_size = 0; }},
       {"page size -64: expected 1 or more", [](auto& call) { call.page_size = -64; }},
       {"input pointer is null: expected memory for 3 tokens", [](auto& call) { call.input = nullptr; }},
       {"index pointer is null: expected memory for 3 tokens", [](auto& call) { call.index = nullptr; }},
       {"cache pointer is null: expected memory for 3 tokens", [](auto& call) { call.cache = nullptr; }}});
}

TEST(Refusals, know_the_layouts_sizes) {
  expect_refusals(
      {strict(Layout::flashmla)},
      {{"layout 1: expected 0 (flashmla)", [](auto& call) { call.layout = 1; }},
       {"layout 9: expected 0 (flashmla)", [](auto& call) { call.layout = 9; }},
       {"page stride 1167: expected at least 1168 for 2 tokens of 584 bytes", [](auto& call) { call.page_stride = 1167; }},
       {"page stride -1168: expected at least 1168 for 2 tokens of 584 bytes", [](auto& call) { call.page_stride = -1168; }},
       {"input row stride 2047: expected at least 2048", [](auto& call) { call.input_row_stride = 2047; }}});
  expect_refusals(
      {strict(Layout::indexer)},
      {{"layout 0: expected 1 (indexer)", [](auto& call) { call.layout = 0; }},
       {"page stride 263: expected at least 264 for 2 tokens of 132 bytes", [](auto& call) { call.page_stride = 263; }},
       {"input row stride 511: expected at least 512", [](auto& call) { call.input_row_stride = 511; }}});
}

TEST(Refusals, catch_sizes_beyond_64_bits) {
  expect_refusals({strict(Layout::flashmla)},
                  {{fmt::format("2 pages of {} bytes: expected a pool of at most {} bytes", most, most),
                    [](auto& call) { call.page_stride = most; }},
                   {fmt::format("3 rows of {} bytes: expected an input of at most {} bytes", most, most),
                    [](auto& call) { call.input_row_stride = most; }}});
}

TEST(Refusals, spare_a_call_of_no_tokens) {
  for (const Subject& subject : builtin_host_subjects()) {
    const Trial trial = dense_trial(subject.dialect, Fp8::e4m3fn, ElementType::bf16, 0, 64);
    const kvproof_store_call call = store_call(trial, nullptr, nullptr, nullptr);
    const char* message = nullptr;
    EXPECT_EQ(subject.store(subject.state, &call, &message), KVPROOF_STORED);
    EXPECT_EQ(message, nullptr);
  }
}

}  // namespace
}  // namespace kvproof
