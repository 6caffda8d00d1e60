// The pages of a small case as a picture: whose slots are, and where the wrong bytes lie.
#pragma once

#include <string>
#include <vector>

#include "kvproof/properties/case.h"
#include "kvproof/properties/property.h"

namespace kvproof::fuzz {

// One line a page that a token or a wrong byte is in, the first few of them, and one for what lies outside the pool:
//
//   page 0: data .o  scales .!  tail ok
//   guard before the pool: 576 bytes changed
//
// Of each slot in each plane: '.' nobody's and as before, 'o' a token's and right, '!' a token's and wrong, 'X' nobody's and
// changed. Slots beyond the first 64 of a page are left out.
std::vector<std::string> page_map(const Case& c, const Breach& breach, const Dialect& dialect);

}  // namespace kvproof::fuzz
