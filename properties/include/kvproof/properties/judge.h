// The judge: every byte of the arena after a run, against the byte it must be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvproof/device/arena.h"
#include "kvproof/properties/expectation.h"

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
  std::int64_t page = -1;   // of a pool byte
  PagePlace place{Region::tail, -1, -1, -1, -1};
  std::int64_t token = -1;      // the owner of a pool byte, -1 for nobody's
  std::int32_t contenders = 0;  // tokens that may own it
  std::uint8_t expected = 0;
  std::uint8_t found = 0;
};

struct Judgement {
  std::vector<WrongByte> wrong;  // the first `kept` of them, pool first, in order of offset
  std::int64_t wrong_bytes = 0;  // all of them
  std::int64_t bytes = 0;        // compared, guards, input and indices among them
  std::int64_t codes = 0;        // compared with a value of the model

  static constexpr std::int64_t kept = 65536;

  bool holds() const { return wrong_bytes == 0; }
};

// Compares all of `seen` with what `expected` says. `input` and `indices` are the bytes that were given to the kernel. A
// refused run must have changed nothing at all.
Judgement judge(const Expectation& expected, const Observation& seen, const std::vector<std::uint8_t>& input,
                const std::vector<std::uint8_t>& indices);

// Spellings for messages and JSON.
std::string_view name_of(Area area);
std::string_view name_of(Wrong wrong);

}  // namespace kvproof
