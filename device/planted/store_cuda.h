// Running the steps on the GPU: a thread a token. Planted kernels are there to be wrong, not to be fast.
#pragma once

#include <cuda_runtime.h>

#include "planted/descriptors.h"

namespace kvproof::planted {

template <class Steps>
__global__ void store_tokens(const __grid_constant__ Call call) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t turn = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; turn < call.shape.tokens; turn += step) {
    store_token<Steps>(call, turn);
  }
}

template <class Steps>
std::int32_t store_on_cuda(void*, const kvproof_store_call* from, const char** message) {
  static std::int64_t launch = 0;
  Call call = call_of(*from, dialect_of<Steps>(static_cast<Layout>(from->layout)), launch++);
  Steps::launched(&call);
  if (call.shape.tokens == 0 && Steps::launches(call)) {
    return KVPROOF_STORED;
  }
  const std::int64_t blocks = Steps::launches(call) ? (call.shape.tokens + 127) / 128 : 0;
  store_tokens<Steps>
      <<<static_cast<unsigned>(blocks < 65535 ? blocks : 65535), 128, 0, static_cast<cudaStream_t>(from->stream)>>>(call);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    *message = cudaGetErrorString(error);
    return KVPROOF_FAILED;
  }
  return KVPROOF_STORED;
}

template <class Steps>
void add_on_cuda(std::vector<kvproof_kernel>& kernels) {
  if constexpr ((Steps::machines & on_cuda) != 0) {
    kernels.push_back(descriptor<Steps>(KVPROOF_MEMORY_CUDA, &store_on_cuda<Steps>));
  }
}

template <class... All>
void add_all_on_cuda(std::vector<kvproof_kernel>& kernels, List<All...>) {
  (add_on_cuda<All>(kernels), ...);
}

}  // namespace kvproof::planted
