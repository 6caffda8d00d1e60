#include "planted/scratch.h"
#include "planted/store_cuda.h"

namespace kvproof::planted {

std::uint32_t* new_scratch() {
  constexpr std::size_t bytes = scratch_words * sizeof(std::uint32_t);
  void* words = nullptr;
  if (cudaMalloc(&words, bytes) != cudaSuccess || cudaMemset(words, 0xff, bytes) != cudaSuccess) {
    return nullptr;
  }
  return static_cast<std::uint32_t*>(words);
}

void add_cuda_batches(std::vector<kvproof_kernel>& kernels) {
  add_all_on_cuda(kernels, Batches{});
  add_all_on_cuda(kernels, Races{});
  add_all_on_cuda(kernels, Drifts{});
  add_all_on_cuda(kernels, Streams{});
}

}  // namespace kvproof::planted
