// Without a GPU these tests fail: a lane that skips everything has proved nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kvproof/device/memory.h"
#include "pool_comparison.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string absence = kvproof::cuda_absence();
  if (!absence.empty()) {
    fmt::print(stderr, "device_gpu_test: no CUDA device: {}\n", absence);
    return 1;
  }
  fmt::print("device: {}\n", kvproof::cuda_memory()->device());
  const int status = RUN_ALL_TESTS();
  fmt::print("compared {} bytes and {} (amax, element) pairs\n", kvproof::compared().bytes, kvproof::compared().pairs);
  return status;
}
