// The fp8 formats as a table: the value of each of the 256 codes, from the format's definition.
#pragma once

#include <array>
#include <cstdint>

#include "kvproof/reference/fp8.h"

namespace kvproof::oracle {

// Entry `code` is that code's value; NaN for a code that means NaN.
const std::array<double, 256>& code_values(Fp8 type);

}  // namespace kvproof::oracle
