// Which calls a dialect makes a promise about: the parts of a case's validity that are the dialect's, not the shape's.
#pragma once

#include <optional>
#include <string>

#include "kvproof/properties/case.h"

namespace kvproof {

// Why a case's values or addresses lie outside the dialect's contract, or nothing: a NaN or an infinity where the dialect
// does not state what one gives, a pool beyond the reach of its offsets. The shape must be valid.
std::optional<std::string> contract_breach(const Case& c, const Dialect& dialect);

}  // namespace kvproof
