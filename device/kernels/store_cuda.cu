// The production kernels on the GPU.
#include <cuda_runtime.h>

#include <string>

#include "kernels/lane.h"
#include "kernels/machine_cuda.h"
#include "kernels/store.h"

namespace kvproof::kernels {
namespace {

constexpr int warp_lanes = 32;
constexpr int block_threads = 256;
constexpr int blocks_an_sm = 5;  // 48 registers a thread: more would hide less of the trip to memory
constexpr std::int64_t most_blocks = 0x7FFFFFFF;

template <class Lanes>
__device__ __forceinline__ float reduce(float amax) {
#pragma unroll
  for (int distance = 1; distance < Lanes::a_tile; distance *= 2) {
    const float other = __shfl_xor_sync(0xFFFFFFFFU, amax, distance);
    amax = other > amax ? other : amax;
  }
  return amax;
}

template <class Lanes, ElementType Type>
__global__ void __launch_bounds__(block_threads, blocks_an_sm) store_rows(const __grid_constant__ StorePlan plan) {
  constexpr int tokens_a_warp = warp_lanes / Lanes::a_token;
  const int in_warp = static_cast<int>(threadIdx.x) % warp_lanes;
  const int position = in_warp % Lanes::a_token;
  const std::int64_t warps_a_block = block_threads / warp_lanes;
  const std::int64_t warp = blockIdx.x * warps_a_block + threadIdx.x / warp_lanes;
  const std::int64_t step = gridDim.x * warps_a_block * tokens_a_warp;
  // The bound is the warp's, not the lane's: every lane takes part in every shuffle.
  for (std::int64_t first = warp * tokens_a_warp; first < plan.tokens; first += step) {
    Lane lane;
    load_lane<CudaMachine, Type>(plan, first + in_warp / Lanes::a_token, position, &lane);
    lane.amax = reduce<Lanes>(lane.amax);
    store_lane<CudaMachine, Lanes, Type>(plan, lane, position);
  }
}

template <class Lanes, ElementType Type>
void launch(const StorePlan& plan, cudaStream_t stream) {
  constexpr std::int64_t tokens_a_block = block_threads / Lanes::a_token;
  const std::int64_t wanted = (plan.tokens - 1) / tokens_a_block + 1;
  const auto blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  store_rows<Lanes, Type><<<blocks, block_threads, 0, stream>>>(plan);
}

template <class Lanes>
void launch(const StorePlan& plan, cudaStream_t stream) {
  switch (plan.input_type) {
    case ElementType::bf16:
      return launch<Lanes, ElementType::bf16>(plan, stream);
    case ElementType::fp16:
      return launch<Lanes, ElementType::fp16>(plan, stream);
    case ElementType::fp32:
      return launch<Lanes, ElementType::fp32>(plan, stream);
  }
}

}  // namespace

std::int32_t store_on_cuda(void* state, const kvproof_store_call* call, const char** message) {
  static thread_local std::string why;
  StorePlan plan{};
  if (!make_plan(*call, *static_cast<const Dialect*>(state), &plan, &why)) {
    *message = why.c_str();
    return KVPROOF_REFUSED;
  }
  if (plan.tokens == 0) {
    return KVPROOF_STORED;
  }
  const auto stream = static_cast<cudaStream_t>(call->stream);
  if (plan.rules.dialect.layout == Layout::flashmla) {
    launch<FlashmlaLanes>(plan, stream);
  } else {
    launch<IndexerLanes>(plan, stream);
  }
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    why = std::string("launch: ") + cudaGetErrorString(error);
    *message = why.c_str();
    return KVPROOF_FAILED;
  }
  return KVPROOF_STORED;
}

}  // namespace kvproof::kernels
