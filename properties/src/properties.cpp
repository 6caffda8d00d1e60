#include <algorithm>
#include <vector>

#include "kvproof/properties/describe.h"
#include "kvproof/properties/property.h"

namespace kvproof {

std::span<const Property> properties() {
  static const std::vector<Property> all{values_exact(),
                                         rope_copied(),
                                         scale_in_bounds(),
                                         no_nan_code(),
                                         untouched_bytes_stay(),
                                         input_and_indices_stay(),
                                         far_rows_land(),
                                         large_shapes_land(),
                                         tiles_independent(),
                                         permuting_tokens_changes_nothing(),
                                         split_batch_equals_whole(),
                                         moving_by_pages_moves_the_bytes(),
                                         index_types_agree(),
                                         strided_input_right_or_refused(),
                                         sign_symmetry(),
                                         scaling_by_a_power_of_two(),
                                         error_within_half_a_unit(),
                                         stored_values_store_again(),
                                         duplicates_end_as_one_contender(),
                                         invalid_indices_follow_the_dialect(),
                                         no_tokens_touch_nothing(),
                                         sequences_follow_the_model(),
                                         repeated_runs_agree(),
                                         graph_capture_changes_nothing(),
                                         two_streams_change_nothing()};
  return all;
}

const Property* find_property(std::string_view name) {
  const std::span<const Property> all = properties();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Property& one) { return one.name == name; });
  return at == all.end() ? nullptr : &*at;
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

std::optional<Breach> any_wrong_byte(const Trial& trial) {
  return breach_of(wrong_of(trial, [](const WrongByte&) { return true; }), trial);
}

}  // namespace kvproof
