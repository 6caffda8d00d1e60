// A call of no tokens is a call that writes nothing, by itself and between others.
#include "../derive.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  const Case empty = with_tokens(c, {});
  Launch alone;
  alone.null_when_empty = rig.draw().one_in(2);  // as the pointers of an empty tensor are
  alone.steps = {StoreTokens{0, 0}};
  const Trial nothing = rig.judged(empty, alone);
  if (auto breach = any_wrong_byte(nothing)) {
    return breach;
  }
  Launch between = alone;
  between.steps = {StoreTokens{0, 0}, StoreTokens{0, c.shape.tokens}, StoreTokens{c.shape.tokens, 0}};
  const auto one = rig.run(c);
  const auto among = rig.run(c, between);
  if (!one || !among) {
    return std::nullopt;
  }
  rig.exercised_if(any_row(*one));
  return pools_differ(rig, *one, *among, "by itself", "between calls of no tokens");
}

}  // namespace

const Property& no_tokens_touch_nothing() {
  static const Property property{
      .name = "no_tokens_touch_nothing",
      .promise = "a call of no tokens writes nothing, or is refused; its pointers may be null",
      .catches =
          "a grid of no blocks is a launch error that the next call reports; N - 1 of N = 0 as the last token: engines make "
          "such calls when a rank has no work, tests do not",
      .focus = {.indices = {2, 3, 1, 1, 0, 0, 1, 0}, .most_tokens = 12, .fresh_rows = false},
      .exercised_by = "a row that is stored, by itself and between calls of no tokens",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
