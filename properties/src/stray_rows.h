// Whose row stray bytes are.
#pragma once

#include <vector>

#include "kvproof/properties/expectation.h"
#include "kvproof/properties/wrong_byte.h"

namespace kvproof {

// Names, for stray bytes in and around the pool that are one token's tile of codes or its rope, that token and tile. `wrong`
// is in order of area and offset, `input` what was given to the kernel.
void name_stray_rows(const Expectation& expected, const std::vector<std::uint8_t>& input, std::vector<WrongByte>& wrong);

}  // namespace kvproof
