// What a judge on the host finds: the first findings, and the count of all.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kvproof/properties/judge.h"

namespace kvproof {

class Findings {
 public:
  std::int64_t room(int count) {
    const std::int64_t at = total_;
    total_ += count;
    return at;
  }
  void put(std::int64_t at, const Finding& finding) {
    if (at < Judgement::kept) {
      list_.push_back(finding);
    }
  }
  std::int64_t total() const { return total_; }
  std::vector<Finding> take() { return std::move(list_); }

 private:
  std::vector<Finding> list_;
  std::int64_t total_ = 0;
};

}  // namespace kvproof
