// The value classes without NaN and infinity: for promises about finite tiles.
#pragma once

#include "kvproof/properties/values.h"

namespace kvproof {

inline constexpr ValueWeights finite_values{2, 1, 2, 4, 4, 3, 3, 2, 4, 3, 0, 0};

}  // namespace kvproof
