// A property: one promise that every store kernel must keep.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/rig.h"
#include "kvproof/properties/trial.h"

namespace kvproof {

// How a trial breaks a promise: a summary line, then the places, nearest to the front of the arena first.
struct Breach {
  std::string summary;
  std::vector<std::string> places;  // one line each, all of them
  std::vector<WrongByte> wrong;     // the bytes behind them, where the judge found them
  bool hung = false;                // it ended because its time was over
  bool ended = false;               // the kernel did not come back from the call as it should, whatever was asked of it
  std::optional<Placement> broke_device = std::nullopt;  // that of the run in which the device broke, if it did
};

struct Property {
  std::string_view name;
  std::string_view promise;  // one sentence
  std::string_view catches;  // the bug class, and why a plain test misses it
  CaseFocus focus;
  std::string_view exercised_by = "a stored row";                 // what a case must have to put the promise to the test
  std::optional<Breach> (*broken)(const Trial& trial) = nullptr;  // of one case's trial; null where `over_runs` is given
  bool (*applies)(const Subject& subject) = nullptr;              // null: to every subject
  std::string_view where = "every kernel";                        // what `applies` says, in words
  std::optional<Breach> (*over_runs)(Rig& rig) = nullptr;         // of the runs that it makes on a rig
  bool looks_at_pool = false;  // and not at the judge's findings: without the pool on the host it has seen nothing
  // Whether a trial that stored rows had that; null: it did. Where `over_runs` is given, it tells the rig.
  bool (*exercises)(const Trial& trial) = nullptr;

  bool applies_to(const Subject& subject) const { return applies == nullptr || applies(subject); }
};

// All properties, in the order in which they are checked.
std::span<const Property> properties();

// The property of a name, or null.
const Property* find_property(std::string_view name);

// The breach that wrong bytes make, or nothing if there are none.
std::optional<Breach> breach_of(const Judgement& wrong, const Trial& trial);

// That of every wrong byte of the trial, whatever property it belongs to.
std::optional<Breach> any_wrong_byte(const Trial& trial);

// One function a file, in src/property.
const Property& values_exact();
const Property& rope_copied();
const Property& scale_in_bounds();
const Property& no_nan_code();
const Property& untouched_bytes_stay();
const Property& input_and_indices_stay();
const Property& far_rows_land();
const Property& large_shapes_land();
const Property& tiles_independent();
const Property& permuting_tokens_changes_nothing();
const Property& split_batch_equals_whole();
const Property& moving_by_pages_moves_the_bytes();
const Property& index_types_agree();
const Property& strided_input_right_or_refused();
const Property& sign_symmetry();
const Property& scaling_by_a_power_of_two();
const Property& error_within_half_a_unit();
const Property& stored_values_store_again();
const Property& duplicates_end_as_one_contender();
const Property& invalid_indices_follow_the_dialect();
const Property& no_tokens_touch_nothing();
const Property& sequences_follow_the_model();
const Property& repeated_runs_agree();
const Property& graph_capture_changes_nothing();
const Property& two_streams_change_nothing();

}  // namespace kvproof
