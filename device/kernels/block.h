// Sixteen bytes, the widest access that a lane makes.
#pragma once

#include <cstdint>

// A lane program is compiled twice: by nvcc for the GPU, by the host compiler for the host.
#if defined(__CUDACC__)
#define KVPROOF_LANE __device__ __forceinline__
#else
#define KVPROOF_LANE inline
#endif

namespace kvproof::kernels {

struct alignas(16) Block {
  std::uint32_t word[4];
};

// Both machines offer load8, load4, load2, load1 and store16, ... for addresses aligned to what they move. The width of a
// pool or an input is the widest access that its base and stride allow: 16, 4, 2 or 1.
template <class Machine>
KVPROOF_LANE Block load_block(const std::uint8_t* at, int width) {
  if (width == 16) {
    return Machine::load16(at);
  }
  Block block{};
  for (int i = 0; i < 4; ++i) {
    const std::uint8_t* from = at + 4 * i;
    if (width == 4) {
      block.word[i] = Machine::load4(from);
    } else if (width == 2) {
      block.word[i] = Machine::load2(from) | (Machine::load2(from + 2) << 16);
    } else {
      block.word[i] = Machine::load1(from) | (Machine::load1(from + 1) << 8) | (Machine::load1(from + 2) << 16) |
                      (Machine::load1(from + 3) << 24);
    }
  }
  return block;
}

template <class Machine>
KVPROOF_LANE void store_word(std::uint8_t* at, std::uint32_t word, int width) {
  if (width >= 4) {
    Machine::store4(at, word);
  } else if (width == 2) {
    Machine::store2(at, word & 0xFFFFU);
    Machine::store2(at + 2, word >> 16);
  } else {
    for (int i = 0; i < 4; ++i) {
      Machine::store1(at + i, (word >> (8 * i)) & 0xFFU);
    }
  }
}

template <class Machine>
KVPROOF_LANE void store_block(std::uint8_t* at, const Block& block, int width) {
  if (width == 16) {
    Machine::store16(at, block);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    store_word<Machine>(at + 4 * i, block.word[i], width);
  }
}

}  // namespace kvproof::kernels
