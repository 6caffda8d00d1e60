// Rows with a gap between them: stored right, or refused. Never stored from the gap.
#include <fmt/format.h>

#include "../derive.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  const std::int64_t row = c.shape.row_bytes();
  Draw draw = rig.draw();
  const std::int64_t gap = draw.of<std::int64_t>({16, 64, row, 16 * draw.between(1, 64), 16 * draw.between(1, 64),
                                                  element_bytes(c.shape.input_type) * draw.between(1, 15)});
  const Case dense = with_row_stride(c, row);
  const Case strided = with_row_stride(c, row + gap);
  const auto one = rig.run(dense);
  if (!one) {
    return std::nullopt;
  }
  const bool meets_the_gap = any_row(*one, [](std::int64_t token) { return token > 0; });
  const auto two = rig.run(strided);
  if (!two) {
    // That is an answer. That nothing was written is judged as well.
    rig.exercised_if(meets_the_gap);
    const Trial refusal = rig.judged(strided);
    rig.compared(0, c.shape.tokens * layout_shape(c.shape.layout).codes);
    return any_wrong_byte(refusal);
  }
  rig.exercised_if(meets_the_gap);
  return pools_differ(rig, *one, *two, "without a gap between rows", fmt::format("with {} bytes of it", gap));
}

}  // namespace

const Property& strided_input_right_or_refused() {
  static const Property property{
      .name = "strided_input_right_or_refused",
      .promise = "rows further apart than they are long give the bytes of dense rows, or a refusal",
      .catches =
          "an input stride that is ignored: a slice of a fused projection is strided, a tensor made for a test is not",
      .focus = {.indices = {2, 3, 1, 2, 1, 1, 1, 0}, .most_tokens = 32, .fresh_rows = false},
      .exercised_by = "a second row that is stored without a gap before it, and with one is stored or refused",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
