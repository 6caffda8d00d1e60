// The calls that a campaign has found worth keeping, and the next one to try: kept is what exercises a feature that no call
// before it did, or one of few tokens where only longer ones did.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kvproof/fuzz/features.h"
#include "kvproof/fuzz/fuzz_call.h"
#include "kvproof/properties/draw.h"

namespace kvproof::fuzz {

class Corpus {
 public:
  // The next call: a kept one changed, two of them crossed, or one drawn afresh.
  FuzzCall next(Draw& draw) const;

  // Keeps `call` if its features make it worth that; says whether it did.
  bool offer(const FuzzCall& call, const std::vector<std::uint16_t>& features);

  const std::vector<FuzzCall>& calls() const { return calls_; }
  std::size_t features() const { return features_; }

 private:
  const FuzzCall& any(Draw& draw) const;

  std::vector<FuzzCall> calls_;
  std::array<std::uint8_t, feature_count> fewest_tokens_{};  // of the calls with a feature, and 1; 0: there is none
  std::size_t features_ = 0;
};

}  // namespace kvproof::fuzz
