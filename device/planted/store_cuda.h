// Running the steps on the GPU: a thread a token. Planted kernels are there to be wrong, not to be fast.
#pragma once

#include <cuda_runtime.h>

#include "kvproof/reference/dialects.h"
#include "planted/right.h"

namespace kvproof::planted {

template <class Steps>
__global__ void store_tokens(const __grid_constant__ Call call) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t token = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; token < call.shape.tokens; token += step) {
    store_token<Steps>(call, token);
  }
}

template <class Steps>
std::int32_t store_on_cuda(void*, const kvproof_store_call* call, const char** message) {
  if (call->tokens == 0) {
    return KVPROOF_STORED;
  }
  const Layout layout = static_cast<Layout>(call->layout);
  const Call mine = call_of(*call, find_dialect("strict", layout)->dialect);
  const std::int64_t blocks = (call->tokens + 127) / 128;
  store_tokens<Steps>
      <<<static_cast<unsigned>(blocks < 65535 ? blocks : 65535), 128, 0, static_cast<cudaStream_t>(call->stream)>>>(mine);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    *message = cudaGetErrorString(error);
    return KVPROOF_FAILED;
  }
  return KVPROOF_STORED;
}

}  // namespace kvproof::planted
