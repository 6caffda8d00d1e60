// From a fuzzed call to a case that a kernel may be given: every choice becomes one that the kernel takes and that its
// dialect has an answer for.
#pragma once

#include <cstdint>

#include "kvproof/device/subject.h"
#include "kvproof/fuzz/fuzz_call.h"
#include "kvproof/fuzz/row_bank.h"
#include "kvproof/properties/case.h"

namespace kvproof::fuzz {

struct CaseLimits {
  std::int64_t largest_pool = 256 << 10;  // bytes, of pools that are not far; one page is always there
  std::int64_t largest_page_size = 1024;  // of those that are chosen here, where the kernel takes any
  bool far_pools = false;                 // pools of gigabytes: for arenas that reserve addresses and no memory
  bool extreme_indices = false;           // indices that a wrong kernel stores anywhere: for kernels in a child process
};

class CaseMaker {
 public:
  // `subject` must outlive the maker.
  CaseMaker(const Subject& subject, const CaseLimits& limits);

  // Reuses what `c` holds.
  void make(const FuzzCall& call, Case& c);

  Case made(const FuzzCall& call) {
    Case c;
    make(call, c);
    return c;
  }

  // The row of a token of the last case made.
  const BankRow& row(const FuzzCall& call, std::size_t token, const StoreShape& shape) {
    const FuzzToken& t = call.tokens[token];
    return bank_.row(shape.input_type, shape.fp8, t.values, t.row);
  }

  const Subject& subject() const { return subject_; }

 private:
  void shape(const FuzzCall& call, StoreShape& s) const;
  std::int64_t page_size(const FuzzCall& call) const;
  void far_pages(const FuzzCall& call, StoreShape& s) const;
  void indices(const FuzzCall& call, Case& c) const;
  std::int64_t contracted(std::int64_t index, const StoreShape& s) const;
  void without_duplicates(Case& c) const;
  void input(const FuzzCall& call, Case& c);

  const Subject& subject_;
  CaseLimits limits_;
  RowBank bank_;
};

}  // namespace kvproof::fuzz
