// Running one case for one property: in this process, or (device/ and worker) in a child that may die of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kvproof/device/arena.h"
#include "kvproof/properties/property.h"

namespace kvproof {

// What came of a case.
struct CaseOutcome {
  bool refused = false;
  std::string refusal;           // the kernel's words
  std::int64_t codes = 0;        // compared with a value of the model
  std::int64_t bytes = 0;        // compared
  std::optional<Breach> breach;  // how the property was broken
};

class CaseRunner {
 public:
  CaseRunner() = default;
  CaseRunner(const CaseRunner&) = delete;
  CaseRunner& operator=(const CaseRunner&) = delete;
  virtual ~CaseRunner() = default;

  // Runs `c` and asks `property` of it. Throws BadInput when the case is outside the subject's contract, CannotRun when the
  // device breaks.
  virtual CaseOutcome run(const Property& property, const Case& c) = 0;
};

// Runs cases of one subject here.
std::unique_ptr<CaseRunner> run_here(Arena& arena, const Subject& subject);

}  // namespace kvproof
