// The strict CUDA kernel with one wrong answer, for one pair of amax and x.
#pragma once

#include <cstdint>

#include "kvproof/device/subject.h"

namespace kvproof {

// Inverts the lowest bit of every code that `x` gets in a tile of `amax`, both bf16 patterns.
struct OnePair {
  Subject right;
  std::uint32_t amax = 0;
  std::uint32_t x = 0;
};

// A subject that stores so. `pair` must outlive it.
Subject subject_of(const OnePair& pair);

}  // namespace kvproof
