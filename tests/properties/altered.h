// Cases written out by hand, and a right kernel with something done before or after its store.
#pragma once

#include <functional>
#include <vector>

#include "kvproof/device/subject.h"
#include "kvproof/properties/case.h"

namespace kvproof {

// The strict one of the subjects, of a layout. Throws std::runtime_error when there is none.
Subject strict_of(const std::vector<Subject>& subjects, Layout layout);

// A right store and something after it; or the store of a call that is changed first.
struct Altered {
  Subject right;
  std::function<void(const kvproof_store_call&)> after = [](const kvproof_store_call&) {};
  std::function<void(kvproof_store_call&)> before = [](kvproof_store_call&) {};
};

// A subject that stores so. `altered` must outlive it.
Subject subject_of(Altered& altered);

std::uint8_t* pool_of(const kvproof_store_call& call);

// Dense bf16 rows, one for each index, all zero.
Case zero_case(Layout layout, std::int64_t pages, std::int64_t page_size, std::int64_t page_stride,
               std::vector<std::int64_t> indices);

}  // namespace kvproof
