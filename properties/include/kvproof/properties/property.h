// A property: one promise that every store kernel must keep.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/trial.h"

namespace kvproof {

// How a trial breaks a promise: a summary line, then the places, nearest to the front of the arena first.
struct Breach {
  std::string summary;
  std::vector<std::string> places;  // one line each, all of them
  std::vector<WrongByte> wrong;     // the bytes behind them, where the judge found them
  bool ended = false;               // the kernel did not come back from the call as it should, whatever was asked of it
};

struct Property {
  std::string_view name;
  std::string_view promise;  // one sentence
  std::string_view catches;  // the bug class, and why a plain test misses it
  CaseFocus focus;
  std::optional<Breach> (*broken)(const Trial& trial);
  bool (*applies)(const Subject& subject) = nullptr;  // null: to every subject

  bool applies_to(const Subject& subject) const { return applies == nullptr || applies(subject); }
};

// All properties, in the order in which they are checked.
std::span<const Property> properties();

// The breach that wrong bytes make, or nothing if there are none.
std::optional<Breach> breach_of(const Judgement& wrong, const Trial& trial);

// One function a file, in src/property.
const Property& values_exact();
const Property& rope_copied();
const Property& scale_in_bounds();
const Property& no_nan_code();
const Property& untouched_bytes_stay();
const Property& input_and_indices_stay();
const Property& far_rows_land();

}  // namespace kvproof
