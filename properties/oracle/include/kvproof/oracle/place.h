// Where a token's units go, by arithmetic of the oracle's own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kvproof/properties/case.h"

namespace kvproof::oracle {

struct Slot {
  std::int64_t page;
  std::int64_t slot;
};

// The slot that an index names, nothing when the dialect skips it. Throws BadInput when it is outside the contract.
std::optional<Slot> slot_of(std::int64_t index, const StoreShape& shape, const Dialect& dialect);

// `count` consecutive bytes of a page, from `within` on, that a port writes through a pointer to `view`-byte elements.
struct Span {
  std::int64_t within;
  int count;
  int view;
};

// A piece of a span in the pool: one, or two where a narrow offset wraps inside the span.
struct Piece {
  std::int64_t offset;
  int first;  // its first byte in the span
  int count;
};

std::vector<Piece> pieces(const Span& span, std::int64_t page, const StoreShape& shape, Width offset_width);

}  // namespace kvproof::oracle
