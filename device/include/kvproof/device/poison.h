// Bytes that a pool is filled with before a kernel runs, keyed to their position: a row copied to the wrong place is as
// visible as a random write, and no second copy of the pool is needed to check it.
#pragma once

#include <cstdint>

#include "kvproof/reference/machine.h"

namespace kvproof {

// A poison: every byte of it is the complement of the same byte under the complementary poison, so a stray write of the
// poison's own value cannot hide from both.
struct Poison {
  std::uint64_t seed = 0;
  bool complement = false;

  friend bool operator==(const Poison&, const Poison&) = default;
};

// The eight bytes at offsets 8 * word .. 8 * word + 7 from the pool's base, little-endian; `word` is negative before it.
KVPROOF_HD constexpr std::uint64_t poison_word(const Poison& poison, std::int64_t word) {
  std::uint64_t x = static_cast<std::uint64_t>(word) * 0x9E3779B97F4A7C15ULL + poison.seed;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ULL;
  x ^= x >> 32;
  return poison.complement ? ~x : x;
}

// The poison of memory that reads zero until it is touched: without zeros, so that a zero is no byte of it.
KVPROOF_HD constexpr std::uint64_t zeroless_word(const Poison& poison, std::int64_t word) {
  return poison_word(poison, word) | 0x0101010101010101ULL;
}

// The byte at `offset` from the pool's base.
KVPROOF_HD constexpr std::uint8_t poison_byte(const Poison& poison, std::int64_t offset) {
  const std::int64_t word = offset >> 3;
  return static_cast<std::uint8_t>(poison_word(poison, word) >> (8 * (offset & 7)));
}

}  // namespace kvproof
