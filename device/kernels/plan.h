// A store call after it has been checked: all that a lane needs, as plain data that a kernel takes by value.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/software_fp8.h"
#include "kvproof/kernel.h"
#include "kvproof/reference/dialect.h"
#include "kvproof/reference/element.h"

namespace kvproof::kernels {

// The dialect and what follows from it once for a whole call.
struct Rules {
  Dialect dialect;
  Fp8Format fp8;
  float floor;             // the dialect's floor value
  float limit_reciprocal;  // fl(1 / M)
};

struct StorePlan {
  const std::uint8_t* input;
  const std::uint8_t* index;
  std::uint8_t* cache;
  std::int64_t tokens;
  std::int64_t row_stride;
  std::int64_t page_stride;
  std::int64_t page_size;
  std::int64_t capacity;  // pages * page size
  int page_shift;         // log2 of a page size that is a power of two, else -1
  int input_width;        // widest access that the input's base and stride allow: 16, 4, 2 or 1
  int cache_width;        // the same for the pool
  bool index_is_wide;     // int64
  bool index_is_aligned;
  ElementType input_type;
  Rules rules;
};

// Fills `plan`, or returns false and says in `why` which value was not as expected. Nothing behind the call's pointers is
// read.
bool make_plan(const kvproof_store_call& call, const Dialect& dialect, StorePlan* plan, std::string* why);

}  // namespace kvproof::kernels
