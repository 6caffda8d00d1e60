// Codes that are not the model's and that the dialect's declared error explains.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kvproof/properties/expectation.h"
#include "kvproof/properties/judge_rules.h"

namespace kvproof {

struct Explained {
  std::int64_t findings = 0;       // that were taken out
  std::int64_t codes = 0;          // that are not the model's; of a contended slot, not those of the contender explaining it
  std::optional<Finding> example;  // one of the codes
};

// Takes out of `findings`, which are all there are, those that the declared error explains.
Explained take_explained(const Expectation& expected, const std::vector<std::uint8_t>& input,
                         std::vector<Finding>& findings);

}  // namespace kvproof
