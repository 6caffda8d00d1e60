#include <cuda_runtime.h>

#include "device_bytes.h"

namespace kvproof {
namespace {

__global__ void poke_byte(std::uint8_t* at, std::uint8_t value) { *at = value; }
__global__ void flip_byte(std::uint8_t* at, std::uint8_t bits) { *at ^= bits; }
__global__ void copy_bytes(std::uint8_t* to, const std::uint8_t* from, std::int64_t count) {
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    to[i] = from[i];
  }
}
__global__ void peek_byte(const volatile std::uint8_t* at) {
  const std::uint8_t value = *at;
  (void)value;
}

cudaStream_t of(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

void poke(std::uint8_t* at, std::uint8_t value, void* stream) { poke_byte<<<1, 1, 0, of(stream)>>>(at, value); }
void flip(std::uint8_t* at, std::uint8_t bits, void* stream) { flip_byte<<<1, 1, 0, of(stream)>>>(at, bits); }
void copy(std::uint8_t* to, const std::uint8_t* from, std::int64_t count, void* stream) {
  copy_bytes<<<1, 256, 0, of(stream)>>>(to, from, count);
}
void peek(const std::uint8_t* at, void* stream) { peek_byte<<<1, 1, 0, of(stream)>>>(at); }

int device_error(void* stream) { return static_cast<int>(cudaStreamSynchronize(of(stream))); }

}  // namespace kvproof
