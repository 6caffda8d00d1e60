#include <cuda_runtime.h>

#include "cuda_status.h"
#include "kvproof/device/cuda_poison.h"

namespace kvproof {
namespace {

constexpr int threads = 256;
constexpr int chunk = 16;
constexpr int chunks_a_thread = 8;
constexpr std::int64_t block_bytes = std::int64_t{threads} * chunk * chunks_a_thread;

// `to` is aligned to 16 bytes and `first_word` counts poison words; a thread writes every 256th chunk of its block.
__global__ void __launch_bounds__(threads)
    fill_chunks(Poison poison, std::int64_t first_word, ulonglong2* to, std::int64_t chunks) {
  const std::int64_t first = std::int64_t{blockIdx.x} * threads * chunks_a_thread + threadIdx.x;
#pragma unroll
  for (int i = 0; i < chunks_a_thread; ++i) {
    const std::int64_t at = first + i * threads;
    if (at < chunks) {
      const std::int64_t word = first_word + 2 * at;
      to[at] = make_ulonglong2(poison_word(poison, word), poison_word(poison, word + 1));
    }
  }
}

__global__ void fill_bytes(Poison poison, std::int64_t offset, std::uint8_t* to, std::int64_t count) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < count) {
    to[at] = poison_byte(poison, offset + at);
  }
}

}  // namespace

void fill_poison_on_cuda(const Poison& poison, std::int64_t offset, std::uint8_t* to, std::int64_t count, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const auto bytes = [&](std::int64_t from, std::int64_t how_many) {
    if (how_many > 0) {
      fill_bytes<<<static_cast<unsigned>((how_many + threads - 1) / threads), threads, 0, queue>>>(poison, offset + from,
                                                                                                   to + from, how_many);
    }
  };
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to));
  const std::int64_t head = count < chunk ? count : (chunk - address % chunk) % chunk;
  const bool whole_words = (offset + head) % 8 == 0;
  const std::int64_t chunks = whole_words ? (count - head) / chunk : 0;
  bytes(0, head);
  if (chunks > 0) {
    const std::int64_t blocks = (chunks * chunk + block_bytes - 1) / block_bytes;
    fill_chunks<<<static_cast<unsigned>(blocks), threads, 0, queue>>>(poison, (offset + head) >> 3,
                                                                      reinterpret_cast<ulonglong2*>(to + head), chunks);
  }
  bytes(head + chunks * chunk, count - head - chunks * chunk);
  require_cuda(cudaGetLastError(), "poisoning");
}

}  // namespace kvproof
