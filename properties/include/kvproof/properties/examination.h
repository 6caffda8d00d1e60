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
  int cases = 25;                            // for each property; a quarter, from 25 on, where they are costly
  std::chrono::duration<double> budget{30};  // while none fails, properties are asked again until it is spent
  bool large_shapes = true;                  // they cost as much as all the others; else only where nothing else is seen
  bool proof = true;                         // prove a part of each domain, too
  bool insist = true;                        // ask again while no property fails, whatever the proof says
};

struct Examination {
  std::vector<bool> seen;           // by each detector, in the order of detectors()
  std::string property;             // the first that failed
  bool proof_fails = false;         // a part of a proof did
  std::string summary;              // in the words of the property, or of the proof where no property failed
  std::vector<std::string> failed;  // every property that failed, but for the kernel's not coming back
  double seconds = 0;               // until then; all of the time where nothing is seen
  std::int64_t cases = 0;
  std::int64_t codes = 0;

  bool caught() const { return !property.empty(); }  // as `kvproof check` catches: it proves nothing
  bool accused() const { return caught() || proof_fails; }
  std::string letters() const;  // one a detector, '.' where it sees nothing
};

// Throws CannotRun when the device breaks.
Examination examine(CaseRunner& runner, const Subject& subject, const ExaminationOptions& options);

}  // namespace kvproof
