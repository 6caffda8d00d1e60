// A wrong byte, named.
#pragma once

#include <cstdint>
#include <string_view>

#include "kvproof/reference/layout.h"

namespace kvproof {

// The part of the arena that a byte lies in.
enum class Area : std::uint32_t {
  pool,
  guard_before_pool,
  guard_after_pool,
  input,
  guard_before_input,
  guard_after_input,
  indices,
  guard_before_indices,
  guard_after_indices
};

enum class Wrong : std::uint32_t {
  missing,  // must have been written and still holds its poison
  value,    // written, with another value
  stray     // nobody's, and changed
};

struct WrongByte {
  Area area = Area::pool;
  Wrong wrong = Wrong::value;
  std::int64_t offset = 0;  // from the area's buffer (pool, input, indices)
  std::int64_t modulo = 0;  // the offset is known modulo this; 0: it is exact
  std::int64_t page = -1;   // of a pool byte
  PagePlace place{Region::tail, -1, -1, -1, -1};
  std::int64_t token = -1;        // the owner of a pool byte, -1 for nobody's
  std::int32_t contenders = 0;    // tokens that may own it
  std::int32_t holds_token = -1;  // of a stray byte: the token whose codes or rope lie here, where that is known
  std::int32_t holds_tile = -1;   // and the tile; the number of tiles stands for the rope
  std::uint8_t expected = 0;
  std::uint8_t found = 0;
};

// Spellings for messages and JSON.
std::string_view name_of(Area area);
std::string_view name_of(Wrong wrong);

}  // namespace kvproof
