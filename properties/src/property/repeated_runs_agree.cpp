// The same call leaves the same bytes, however often it is made.
#include <fmt/format.h>

#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

// Most cases are run twice, one in eight a hundred times; the case itself says which.
int runs_of(const Case& c) { return c.poison_seed % 8 == 0 ? 100 : 2; }

std::optional<Breach> over_runs(Rig& rig) {
  const auto first = rig.run(rig.given());
  if (!first) {
    return std::nullopt;
  }
  for (int number = 2; number <= runs_of(rig.given()); ++number) {
    const auto again = rig.run(rig.given());
    if (!again) {
      throw Misbehaved(
          fmt::format("the kernel refused run {} of a call that it had stored: {}", number, rig.counts().refusal));
    }
    if (auto breach = pools_differ(rig, *first, *again, "in the first run", fmt::format("in run {}", number))) {
      return breach;
    }
    rig.exercised_if(any_row(*first));
  }
  return std::nullopt;
}

}  // namespace

const Property& repeated_runs_agree() {
  static const Property property{
      .name = "repeated_runs_agree",
      .promise = "a call made twice, or a hundred times, leaves the same bytes every time",
      .catches =
          "a race between the lanes of a tile, scratch that is not cleared, a result that drifts after the k-th launch: a "
          "test runs once",
      .focus = {.indices = {2, 3, 1, 2, 1, 1, 1, 0}, .most_tokens = 24, .fresh_rows = false},
      .exercised_by = "a row that is stored by every run",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
