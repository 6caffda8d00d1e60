#include <cuda_runtime.h>

#include "kvproof/reference/layout.h"
#include "one_pair.h"

namespace kvproof {
namespace {

constexpr std::uint32_t magnitude = 0x7FFF;

// A block a token, a thread a tile.
__global__ void spoil(const kvproof_store_call call, std::uint32_t amax, std::uint32_t x) {
  const auto layout = static_cast<Layout>(call.layout);
  const LayoutShape shape = layout_shape(layout);
  const auto tile = static_cast<int>(threadIdx.x);
  const std::int64_t token = blockIdx.x;
  const std::int64_t index = call.index_type == KVPROOF_INT32 ? static_cast<const std::int32_t*>(call.index)[token]
                                                              : static_cast<const std::int64_t*>(call.index)[token];
  if (tile >= shape.tiles || index < 0) {
    return;
  }
  const auto* row =
      reinterpret_cast<const std::uint16_t*>(static_cast<const std::uint8_t*>(call.input) + token * call.input_row_stride) +
      tile * shape.tile;
  std::uint32_t largest = 0;
  for (int i = 0; i < shape.tile; ++i) {
    largest = max(largest, row[i] & magnitude);
  }
  if (largest != amax) {
    return;
  }
  std::uint8_t* codes = static_cast<std::uint8_t*>(call.cache) + index / call.page_size * call.page_stride +
                        data_offset(layout, index % call.page_size) + tile * shape.tile;
  for (int i = 0; i < shape.tile; ++i) {
    if (row[i] == x) {
      codes[i] ^= 1;
    }
  }
}

std::int32_t store(void* state, const kvproof_store_call* call, const char** message) {
  const auto& pair = *static_cast<const OnePair*>(state);
  const std::int32_t status = pair.right.store(pair.right.state, call, message);
  if (status == KVPROOF_STORED && call->tokens != 0) {
    spoil<<<static_cast<unsigned>(call->tokens), 32, 0, static_cast<cudaStream_t>(call->stream)>>>(*call, pair.amax, pair.x);
  }
  return status;
}

}  // namespace

Subject subject_of(const OnePair& pair) {
  Subject subject = pair.right;
  subject.store = store;
  subject.state = const_cast<OnePair*>(&pair);
  return subject;
}

}  // namespace kvproof
