// The production kernels on the GPU, byte for byte against the model: what the host kernels are put through.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "kernel_sweeps.h"
#include "kvproof/reference/dialects.h"
#include "pool_comparison.h"

namespace kvproof {
namespace {

class GpuKernels : public testing::Test {
 protected:
  const Subjects subjects = builtin_cuda_subjects();
  const std::unique_ptr<Memory> memory = cuda_memory();
};

TEST_F(GpuKernels, one_subject_a_named_dialect) { ASSERT_EQ(subjects.size(), dialects().size()); }
TEST_F(GpuKernels, store_the_models_bytes_in_any_shape) { EXPECT_EQ(sweep_random_shapes(subjects, *memory), ""); }
TEST_F(GpuKernels, store_the_models_bytes_for_every_amax) { EXPECT_EQ(sweep_every_amax(subjects, *memory), ""); }
TEST_F(GpuKernels, store_the_models_bytes_for_every_element) { EXPECT_EQ(sweep_every_element(subjects, *memory), ""); }
TEST_F(GpuKernels, store_the_models_bytes_for_every_rope_value) { EXPECT_EQ(sweep_every_rope(subjects, *memory), ""); }
TEST_F(GpuKernels, store_the_models_bytes_in_dialects_of_ones_own) {
  EXPECT_EQ(sweep_custom_dialects(subjects, *memory), "");
}

TEST_F(GpuKernels, refuse_what_the_host_refuses) {
  const Trial trial = dense_trial(subjects[0].dialect, Fp8::e4m3fn, ElementType::bf16, 1, 64);
  kvproof_store_call call = store_call(trial, nullptr, nullptr, nullptr);
  const char* message = nullptr;
  EXPECT_EQ(subjects[0].store(subjects[0].state, &call, &message), KVPROOF_REFUSED);
  EXPECT_STREQ(message, "input pointer is null: expected memory for 1 tokens");
  call.tokens = 0;
  EXPECT_EQ(subjects[0].store(subjects[0].state, &call, &message), KVPROOF_STORED);
}

}  // namespace
}  // namespace kvproof
