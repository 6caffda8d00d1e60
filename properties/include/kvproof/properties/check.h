// Checking a subject: properties over generated cases, the first failure shrunk and saved.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kvproof/properties/case_runner.h"
#include "kvproof/properties/property.h"

namespace kvproof {

struct CheckOptions {
  std::uint64_t seed = 0;
  std::chrono::duration<double> budget{0};  // for one property of one subject; at least one batch is run
  std::optional<int> cases;                 // exactly so many cases instead of a budget
  std::chrono::duration<double> shrink_budget{5};
  std::filesystem::path save = "kvproof-failures";  // empty: failures are not saved
  bool run_afresh = true;  // the shrunk case in a process of its own, to see whether it fails without those before it
  bool name_fault = true;  // run the shrunk case again where the device broke, as CaseRunner::name_fault
};

struct Failure {
  Breach breach;               // of the shrunk case
  std::string call;            // the shrunk case in one line
  std::filesystem::path file;  // where it is saved; empty if it is not
  std::int64_t shrink_steps = 0;
  bool shrink_cut = false;         // the time for shrinking ran out
  bool needs_earlier = false;      // alone, in a process of its own, the shrunk case does not fail
  std::vector<std::string> notes;  // that it needs earlier cases, that it could not be saved
};

struct PropertyResult {
  const Property* property = nullptr;
  std::int64_t cases = 0;      // run and compared
  std::int64_t refused = 0;    // of them, refused by the kernel
  std::int64_t exercised = 0;  // of them, those that put the promise to the test
  std::int64_t codes = 0;
  std::int64_t bytes = 0;
  double seconds = 0;             // that all of it took, making a failing case smaller too
  std::int64_t explained = 0;     // codes accepted only for the dialect's declared error
  std::string explained_example;  // the first of them
  std::string refusal;            // the first refusal's message
  std::optional<Failure> failure;
  std::string not_asked;  // why no case was run, if none was

  bool holds() const { return !failure.has_value() && not_asked.empty(); }
  bool hung() const { return failure.has_value() && failure->breach.hung; }
  bool broke_device() const { return failure.has_value() && failure->breach.broke_device.has_value(); }
  // A property whose promise no case put to the test has shown nothing: the kernel refused what would have, or nothing like
  // it was drawn.
  bool compared_nothing() const { return holds() && exercised == 0; }
};

// Checks one property of one subject, whose cases `runner` runs. `each_case` is called after every case. Throws CannotRun
// when the device breaks.
PropertyResult check_property(CaseRunner& runner, const Subject& subject, const Property& property,
                              const CheckOptions& options, const std::function<void(const PropertyResult&)>& each_case);

}  // namespace kvproof
