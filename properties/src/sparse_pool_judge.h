// The judge of a pool that is known by its touched pages: the cost is that of the tokens and of what was touched, however
// many gigabytes the pool has.
#pragma once

#include <cstdint>

#include "findings.h"
#include "kvproof/device/guarded.h"
#include "kvproof/properties/expectation.h"

namespace kvproof {

struct SparseCounts {
  std::int64_t bytes = 0;  // of touched pages, and owned ones; that no other page was touched is known without a look at it
  std::int64_t codes = 0;
};

// Finds what is wrong in the pool and the guards beside it. `expected` lists owned slots.
SparseCounts judge_sparse_pool(const Expectation& expected, const SparsePool& pool, const Poison& poison,
                               Findings& findings);

// The same after a run that must have changed nothing.
SparseCounts judge_unchanged_sparse_pool(const SparsePool& pool, const Poison& poison, Findings& findings);

}  // namespace kvproof
