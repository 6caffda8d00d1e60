// What the proof uses of multiplication. Each is a query of its own, over all integers, with the products as they are.
#pragma once

#include <z3++.h>

#include <vector>

#include "kvproof/proofs/ask.h"

namespace kvproof::proofs {

// Order: for c >= 0, a + 1 <= b gives a*c + c <= b*c, and a == b gives a*c == b*c. `ac` and `bc` stand for the products.
z3::expr order_lemma(const z3::expr& a, const z3::expr& b, const z3::expr& c, const z3::expr& ac, const z3::expr& bc);

// The queries that prove the order lemma, and those about division by shift and by 32 bits.
void ask_lemmas(Questions& questions);

}  // namespace kvproof::proofs
