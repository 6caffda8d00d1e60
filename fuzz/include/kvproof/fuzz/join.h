// Many small cases as one, so that one launch runs them all: their pages follow each other in one pool.
#pragma once

#include <span>

#include "kvproof/fuzz/fuzz_call.h"
#include "kvproof/properties/case.h"

namespace kvproof::fuzz {

// `call` in the shape of `leader`: everything but its pages and its tokens, so that their cases can be joined.
FuzzCall in_shape_of(const FuzzCall& leader, FuzzCall call);

// One case of all: token after token, each index that names a slot moved to its case's own pages. An index up to two pages
// beyond a case's pool, or within the joined one, comes to lie as far beyond the joined one; other indices stay. The poison
// is the first case's. `cases`, at least one, differ in pages, tokens and poison alone; no joined index leaves int32 where
// theirs are of it.
Case joined(std::span<const Case> cases, const Dialect& dialect);

}  // namespace kvproof::fuzz
