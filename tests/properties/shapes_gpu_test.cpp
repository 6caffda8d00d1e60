// The named shapes on the GPU.
#include "device_bytes.h"
#include "shapes.h"

namespace kvproof {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, Shapes,
                         testing::Values(Machine{"cuda", cuda_memory, builtin_cuda_subjects, copy, flip, true}));

}  // namespace
}  // namespace kvproof

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
