// A batch stored in several calls is the batch stored in one.
#include <fmt/format.h>

#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  Draw draw = rig.draw();
  Launch parts;
  for (std::int64_t first = 0; first < c.shape.tokens;) {
    const std::int64_t left = c.shape.tokens - first;
    const std::int64_t tokens = parts.steps.size() == 3 ? left : draw.between(1, left);
    parts.steps.emplace_back(StoreTokens{first, tokens});
    first += tokens;
  }
  const auto whole = rig.run(c);
  const auto split = rig.run(c, parts);
  if (!whole || !split) {
    return std::nullopt;
  }
  for (const Step& part : parts.steps) {
    rig.exercised_if(rows_on_both_sides(*whole, std::get<StoreTokens>(part).first));
  }
  return pools_differ(rig, *whole, *split, "in one call", fmt::format("in {}", parts.steps.size()));
}

}  // namespace

const Property& split_batch_equals_whole() {
  static const Property property{
      .name = "split_batch_equals_whole",
      .promise = "a batch stored in up to four calls leaves the bytes of one call",
      .catches =
          "the last block not masked, a tail that a vector loop drops, state left from call to call: a test makes one call "
          "of a round size",
      .focus = {.indices = {2, 3, 2, 3, 1, 1, 2, 1}, .most_tokens = 70, .fresh_rows = false},
      .exercised_by = "stored rows in two of the calls",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
