// A detector: what a property of the check can see of a defect. A property that sees two kinds of things is two detectors,
// and properties that see the same kind are one. The proof is one more.
#pragma once

#include <span>
#include <string_view>

#include "kvproof/properties/check.h"

namespace kvproof {

struct Detector {
  char letter;
  std::string_view name;
  std::string_view sees;                                           // one sentence
  bool (*caught)(const Property& property, const Breach& breach);  // null: the proof, which is no property
};

// All detectors, in the order in which a matrix has them.
std::span<const Detector> detectors();

}  // namespace kvproof
