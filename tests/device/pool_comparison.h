// Runs a kernel and compares every byte of its pool, and of a margin on both sides, with the model's.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kvproof/device/memory.h"
#include "kvproof/device/poison.h"
#include "kvproof/device/subject.h"
#include "kvproof/reference/call.h"

namespace kvproof {

// One store call with its data. The offsets put the three pointers off their allocation's alignment.
struct Trial {
  StoreShape shape;
  Dialect dialect;
  std::vector<std::uint8_t> input;
  std::vector<std::uint8_t> indices;
  std::int64_t cache_offset = 0;
  std::int64_t input_offset = 0;
  std::int64_t index_offset = 0;
  Poison poison;
};

// What has been compared so far, for the test's closing line.
struct Compared {
  std::int64_t bytes = 0;
  std::int64_t pairs = 0;  // (amax, element) pairs that were quantised
};
Compared& compared();

// What a production kernel makes of `dialect`: no index outside the pool is stored, and offsets have 64 bits.
Dialect guarded(Dialect dialect);

// The C call of a trial whose data lies at these addresses.
kvproof_store_call store_call(const Trial& trial, void* cache, const void* input, const void* index);

// Empty if the kernel leaves what the model says, else the first wrong byte.
std::string difference(const Subject& subject, const Trial& trial, Memory& memory);

// A page stride and row stride that fit; pages, tokens and types are the caller's.
Trial dense_trial(const Dialect& dialect, Fp8 fp8, ElementType type, std::int64_t tokens, std::int64_t page_size);

// Little-endian elements and indices at the end of a byte vector.
void append_element(std::vector<std::uint8_t>& bytes, std::uint32_t bits, ElementType type);
void append_index(std::vector<std::uint8_t>& bytes, std::int64_t index, IndexType type);

// tokens indices 0, 1, 2, ...
void number_indices(Trial* trial);

// A trial of random shape, strides, alignment, elements and indices: no index twice, some outside the pool.
Trial random_trial(const Dialect& dialect, Fp8 fp8, ElementType type, std::mt19937_64& random);

}  // namespace kvproof
