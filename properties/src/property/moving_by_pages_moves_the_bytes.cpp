// The bytes of a row do not depend on the page that it lies in.
#include <fmt/format.h>

#include "../derive.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Dialect& dialect = rig.subject().dialect;
  const StoreShape& given = rig.given().shape;
  const std::int64_t by = rig.draw().between(1, 3);
  Case here = with_tokens(rig.given(), tokens_where(rig.given(), [&](std::int64_t token) {
                            const std::int64_t index = rig.given().indices[static_cast<std::size_t>(token)];
                            return index >= 0 && index < given.capacity() &&
                                   locate(index, given.pages, given.page_size, dialect).fate == Fate::stored;
                          }));
  here.shape.pages += by;
  Case there = here;
  for (std::int64_t& index : there.indices) {
    index += by * given.page_size;
  }
  if (case_contradiction(there, dialect)) {
    return std::nullopt;  // a larger pool than the dialect's offsets reach
  }
  const auto one = rig.run(here);
  const auto two = rig.run(there);
  if (!one || !two) {
    return std::nullopt;
  }
  const LayoutShape layout = layout_shape(given.layout);
  const int scales = layout.tiles * layout.bytes_per_scale;
  Differences differences;
  for (std::int64_t slot = 0; slot < given.capacity(); ++slot) {
    if (one->owner[static_cast<std::size_t>(slot)] < 0) {
      continue;
    }
    const std::int64_t moved = slot + by * given.page_size;
    const auto same = [&](std::int64_t at, std::int64_t moved_at, int count) {
      for (int i = 0; i < count; ++i) {
        const std::uint8_t a = one->bytes[static_cast<std::size_t>(at + i)];
        const std::uint8_t b = two->bytes[static_cast<std::size_t>(moved_at + i)];
        if (a != b) {
          differences.add(
              fmt::format("{}: 0x{:02x}, and 0x{:02x} {} pages further", place_in_pool(here.shape, at + i), a, b, by));
        }
      }
    };
    same(one->data_at(slot), two->data_at(moved), layout.data_bytes);
    same(one->scales_at(slot), two->scales_at(moved), scales);
    rig.compared(layout.data_bytes + scales, layout.codes);
    rig.exercised_if(true);
  }
  return differences.breach("bytes did not move with their pages");
}

}  // namespace

const Property& moving_by_pages_moves_the_bytes() {
  static const Property property{
      .name = "moving_by_pages_moves_the_bytes",
      .promise = "the same rows some pages further leave the same bytes there",
      .catches = "an unpadded or fixed page stride, an address that wraps, page 0 done right by luck: tests use one page",
      .focus = {.indices = {2, 3, 3, 3, 0, 0, 0, 1}, .most_tokens = 32, .fresh_rows = false},
      .exercised_by = "a row that is stored in either page",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
