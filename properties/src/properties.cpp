#include <vector>

#include "kvproof/properties/describe.h"
#include "kvproof/properties/property.h"

namespace kvproof {

std::span<const Property> properties() {
  static const std::vector<Property> all{values_exact(), rope_copied(),          scale_in_bounds(),
                                         no_nan_code(),  untouched_bytes_stay(), input_and_indices_stay()};
  return all;
}

std::optional<Breach> breach_of(const Judgement& wrong, const Trial& trial) {
  if (wrong.holds()) {
    return std::nullopt;
  }
  Breach breach;
  breach.summary = summarise(wrong);
  for (const WrongByte& byte : wrong.wrong) {
    breach.places.push_back(describe(byte, *trial.run, trial.subject->dialect));
  }
  breach.wrong = wrong.wrong;
  return breach;
}

}  // namespace kvproof
