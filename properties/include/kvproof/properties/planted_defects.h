// What the plug-in of planted kernels says about them.
#pragma once

#include <string>
#include <vector>

#include "kvproof/device/subject.h"

namespace kvproof {

struct PlantedDefect {
  std::string name;  // of its kernels
  std::string kind;  // arithmetic, address, race, batch, drift
  std::string defect;
  std::string reenacts;  // the class of public defects, or empty
  bool on_host = false;
  bool on_cuda = false;
  bool by_chance_on_host = false;  // it depends on which thread comes first what a run shows of it
  bool by_chance_on_cuda = false;
};

// The catalogue of the plug-in `file`. Throws CannotRun when it does not load, BadInput
// when it has none, or names a defect twice.
std::vector<PlantedDefect> planted_defects(const std::string& file);

}  // namespace kvproof
