// Rows of a proof in words, and as cases of their own.
#pragma once

#include "kvproof/properties/case.h"
#include "kvproof/properties/prove.h"
#include "narrow.h"

namespace kvproof {

// What is wrong with a row in whose slot `found` stood: "amax ..., x ...: code 0x12, expected 0x13, at tile 3 element 17;
// ...".
std::string name_wrong_row(const Subject& subject, const ProofTask& task, std::int64_t row, const RowImage& found);

// The first code of such a row that only the declared error explains.
std::string name_explained_code(const Subject& subject, const ProofTask& task, std::int64_t row, const RowImage& found);

// The values of a case of one token that are not zero, where they are few; else "".
std::string name_values(const Case& c);

// A call of these rows.
Case case_of_rows(const Subject& subject, const ProofQuestion& question, Span rows, IndexType index_type);

}  // namespace kvproof
