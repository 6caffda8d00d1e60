// The order of a batch is nobody's business.
#include <numeric>

#include "../derive.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  std::vector<std::int64_t> order(static_cast<std::size_t>(c.shape.tokens));
  std::iota(order.begin(), order.end(), 0);
  Draw draw = rig.draw();
  draw.shuffle(order);
  const auto given = rig.run(c);
  const auto permuted = rig.run(with_tokens(c, order));
  if (!given || !permuted) {
    return std::nullopt;
  }
  rig.exercised_if(any_row(*given, [&](std::int64_t token) { return order[static_cast<std::size_t>(token)] != token; }));
  return pools_differ(rig, *given, *permuted, "in the order given", "in another");
}

}  // namespace

const Property& permuting_tokens_changes_nothing() {
  static const Property property{
      .name = "permuting_tokens_changes_nothing",
      .promise = "tokens in another order, each with its index, leave the same bytes",
      .catches =
          "a row paired with its neighbour's index, a first or last token that is special: tests store in order, 0 to N-1",
      .focus = {.indices = {2, 3, 2, 3, 1, 1, 2, 1}, .most_tokens = 40, .fresh_rows = false},
      .exercised_by = "a stored row that has another place in the permuted batch",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
