// One tile in hardware floats: its scale, and an element's code.
#pragma once

#include <cstdint>

#include "kvproof/oracle/nearest.h"
#include "kvproof/reference/dialect.h"

namespace kvproof::oracle {

// How much an element counts for its tile's amax: a NaN nothing, an infinity what the dialect says.
float amax_share(float element, const Dialect& dialect);

// A tile with a given amax. Throws BadInput for an element whose code the dialect does not state.
class Tile {
 public:
  Tile(float amax, const Dialect& dialect, const NearestCode& nearest, int limit);

  // The UE8M0 byte, or the bits of the fp32 scale.
  std::uint32_t stored_scale() const { return stored_; }

  std::uint8_t code(float element) const;

 private:
  std::uint8_t nan_code() const;

  const Dialect& dialect_;
  const NearestCode& nearest_;
  float limit_;
  bool infinite_ = false;
  int exponent_ = 0;  // of a power-of-two scale
  float scale_ = 0;
  float factor_ = 0;  // what elements are multiplied with
  std::uint32_t stored_ = 0;
};

// The limit M of a dialect for an fp8 type.
int limit_of(const Dialect& dialect, Fp8 type);

}  // namespace kvproof::oracle
