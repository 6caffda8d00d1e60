// The production kernels on the host, byte for byte against the model.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_sweeps.h"
#include "kvproof/reference/dialects.h"
#include "pool_comparison.h"

namespace kvproof {
namespace {

class HostKernels : public testing::Test {
 protected:
  const Subjects subjects = builtin_host_subjects();
  const std::unique_ptr<Memory> memory = host_memory();
};

TEST_F(HostKernels, one_subject_a_named_dialect) {
  ASSERT_EQ(subjects.size(), dialects().size());
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    EXPECT_EQ(subjects[i].dialect_name, dialects()[i].name);
    EXPECT_EQ(subjects[i].dialect, dialects()[i].dialect);
    EXPECT_EQ(subjects[i].fp8_types.size(), dialects()[i].fnuz ? 2U : 1U);
    EXPECT_EQ(subjects[i].origin, "built-in");
    EXPECT_TRUE(subjects[i].page_sizes.empty());
  }
  EXPECT_EQ(subjects[0].title(), "flashmla/strict on host");
}

TEST_F(HostKernels, store_the_models_bytes_in_any_shape) { EXPECT_EQ(sweep_random_shapes(subjects, *memory), ""); }
TEST_F(HostKernels, store_the_models_bytes_for_every_amax) { EXPECT_EQ(sweep_every_amax(subjects, *memory), ""); }
TEST_F(HostKernels, store_the_models_bytes_for_every_element) { EXPECT_EQ(sweep_every_element(subjects, *memory), ""); }
TEST_F(HostKernels, store_the_models_bytes_for_every_rope_value) { EXPECT_EQ(sweep_every_rope(subjects, *memory), ""); }
TEST_F(HostKernels, store_the_models_bytes_in_dialects_of_ones_own) {
  EXPECT_EQ(sweep_custom_dialects(subjects, *memory), "");
}

TEST_F(HostKernels, let_the_last_of_duplicates_win) {
  std::mt19937_64 random(5);
  for (const Subject& subject : subjects) {
    for (int i = 0; i < 50; ++i) {
      Trial trial = random_trial(subject.dialect, Fp8::e4m3fn, ElementType::bf16, random);
      trial.indices.clear();
      for (std::int64_t token = 0; token < trial.shape.tokens; ++token) {
        const auto slots = static_cast<std::uint64_t>(std::min<std::int64_t>(3, trial.shape.capacity()));
        append_index(trial.indices, static_cast<std::int64_t>(random() % slots), trial.shape.index_type);
      }
      ASSERT_EQ(difference(subject, trial, *memory), "");
    }
  }
}

}  // namespace
}  // namespace kvproof
