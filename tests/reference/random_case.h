// Random batches for the store tests: values where arithmetic is delicate, any shape of pool.
#pragma once

#include <random>

#include "kvproof/properties/case.h"
#include "kvproof/reference/dialect.h"

namespace kvproof {

using Random = std::mt19937_64;

// A number in [low, high].
std::int64_t draw(Random& random, std::int64_t low, std::int64_t high);

// A batch inside the dialect's contract: odd page sizes, padded strides, skipped and repeated indices. Non-finite elements
// only where the dialect states what they give.
Case random_case(Random& random, const Dialect& dialect, ElementType input_type, IndexType index_type, Fp8 fp8);

// Fields drawn one by one, free of contradiction; NaN and infinities are always stated.
Dialect random_dialect(Random& random, Layout layout);

// The index array as bytes.
std::vector<std::uint8_t> bytes_of_indices(const Case& run);

}  // namespace kvproof
