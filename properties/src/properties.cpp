#include <algorithm>
#include <vector>

#include "kvproof/properties/describe.h"
#include "kvproof/properties/property.h"

namespace kvproof {

std::span<const Property> properties() {
  static const std::vector<Property> all{values_exact(), rope_copied(),          scale_in_bounds(),
                                         no_nan_code(),  untouched_bytes_stay(), input_and_indices_stay(),
                                         far_rows_land()};
  return all;
}

std::optional<Breach> breach_of(const Judgement& wrong, const Trial& trial) {
  if (wrong.holds()) {
    return std::nullopt;
  }
  Breach breach;
  breach.summary = summarise(wrong);
  const bool only_contended =
      std::all_of(wrong.wrong.begin(), wrong.wrong.end(), [](const WrongByte& byte) { return byte.contenders > 1; });
  if (only_contended) {
    breach.summary +=
        "; all in slots that several tokens name: a kernel whose racing writers may tear a unit declares "
        "KVPROOF_DUPLICATES_BYTE";
  }
  for (const WrongByte& byte : wrong.wrong) {
    breach.places.push_back(describe(byte, *trial.run, trial.subject->dialect));
  }
  breach.wrong = wrong.wrong;
  return breach;
}

}  // namespace kvproof
