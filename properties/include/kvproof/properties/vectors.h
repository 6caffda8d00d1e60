// The golden vectors: cases that each catch a known bug, for one dialect at a time.
#pragma once

#include <cstdint>

#include "kvproof/properties/case_file.h"
#include "kvproof/reference/dialects.h"

namespace kvproof {

// The vectors of one dialect, the same at every call.
CaseFile make_vectors(const NamedDialect& entry);

// Compares every expected byte of a case with the independent oracle, and returns how many bytes the pool has. Throws
// CannotRun that names the first difference: then the model or the oracle is wrong, and nothing may be written.
std::int64_t confirm_with_oracle(const FiledCase& filed);

}  // namespace kvproof
