// A case: one store call with everything in it, and nothing that depends on a machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvproof/reference/call.h"
#include "kvproof/reference/dialect.h"

namespace kvproof {

struct Case {
  StoreShape shape;
  std::vector<std::uint8_t> input;    // shape.input_bytes() bytes; bytes between rows are part of it
  std::vector<std::int64_t> indices;  // shape.tokens values, each within shape.index_type
  std::uint64_t poison_seed = 0;

  friend bool operator==(const Case&, const Case&) = default;
};

}  // namespace kvproof
