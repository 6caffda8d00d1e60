// What every byte of the pool must be after a store, computed without the model.
#pragma once

#include <cstdint>
#include <vector>

#include "kvproof/properties/case.h"

namespace kvproof {

// Bytes that one owner writes as a whole: a tile's codes, one scale, the rope, a written pad byte.
struct OracleUnit {
  std::int64_t offset = 0;  // from the pool's base
  // One entry a token that stores to the slot, in token order, all of one size. The pool must hold one of them.
  std::vector<std::vector<std::uint8_t>> contenders;

  friend bool operator==(const OracleUnit&, const OracleUnit&) = default;
};

// The units, by offset and without overlap; every other byte of the pool stays as it was. Where the dialect computes offsets
// in 32 bits and they wrap, a unit lies where the wrapped offset says, which may be outside the pool. Throws BadInput that
// names the token when something is outside the dialect's contract.
std::vector<OracleUnit> oracle_store(const Case& run, const Dialect& dialect);

}  // namespace kvproof
