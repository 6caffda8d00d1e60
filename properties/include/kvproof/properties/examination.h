// Every property asked of one kernel, a part of each proof, and which detectors see something: how a planted defect is
// caught, and how a correct kernel would be accused.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kvproof/properties/case_runner.h"
#include "kvproof/properties/detector.h"

namespace kvproof {

struct ExaminationOptions {
  std::uint64_t seed = 1;
  int cases = 25;                            // for each property
  std::chrono::duration<double> budget{30};  // while nothing is seen, properties are asked again until it is spent
  bool large_shapes = true;                  // they cost as much as all the others; else only where nothing else is seen
  bool proof = true;                         // prove a part of each domain, too
  bool insist = true;                        // ask again while nothing is seen
};

struct Examination {
  std::vector<bool> seen;           // by each detector, in the order of detectors()
  std::string property;             // the first that failed, or "proof"
  std::string summary;              // in its words
  std::vector<std::string> failed;  // every property that failed, but for the kernel's not coming back
  double seconds = 0;               // until then; all of the time where nothing is seen
  std::int64_t cases = 0;
  std::int64_t codes = 0;

  bool caught() const { return !property.empty(); }
  std::string letters() const;  // one a detector, '.' where it sees nothing
};

// Throws CannotRun when the device breaks.
Examination examine(CaseRunner& runner, const Subject& subject, const ExaminationOptions& options);

}  // namespace kvproof
