// A tile's codes and scale depend on its own values: other tiles, the rope and other tokens may be anything.
#include <fmt/format.h>

#include <cstring>

#include "../derive.h"
#include "finite_values.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  const LayoutShape layout = layout_shape(c.shape.layout);
  Draw draw = rig.draw();
  Case other = c;
  std::vector<bool> kept;  // token by token: its tiles, then its rope
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    for (int tile = 0; tile < layout.tiles; ++tile) {
      kept.push_back(draw.one_in(2));
      if (!kept.back()) {
        draw_tile(draw, draw_class(draw, finite_values, rig.subject().dialect), rig.subject().dialect, c.shape.fp8,
                  c.shape.input_type, row_of(other, token), tile * layout.tile, layout.tile);
      }
    }
    kept.push_back(draw.one_in(2));
    for (int i = layout.codes; !kept.back() && i < layout.row_values; ++i) {
      set_element(other, token, i, pattern_near(static_cast<F32>(draw.below(f32_largest_bf16)), c.shape.input_type));
    }
  }
  const auto before = rig.run(c);
  const auto after = rig.run(other);
  if (!before || !after) {
    return std::nullopt;
  }
  Differences differences;
  bool changed = false;
  bool unchanged = false;
  for_each_row(*before, *after, [&](std::int64_t token, std::int64_t slot) {
    const auto same = [&](std::int64_t at, int count) {
      rig.compared(count, 0);
      for (std::int64_t i = at; i < at + count; ++i) {
        const std::uint8_t one = before->bytes[static_cast<std::size_t>(i)];
        const std::uint8_t two = after->bytes[static_cast<std::size_t>(i)];
        if (one != two) {
          differences.add(
              fmt::format("{}: 0x{:02x}, and 0x{:02x} when other tiles changed", place_in_pool(c.shape, i), one, two));
        }
      }
    };
    for (int tile = 0; tile <= layout.tiles; ++tile) {
      if (!kept[static_cast<std::size_t>(token * (layout.tiles + 1) + tile)]) {
        changed = changed || tile < layout.tiles || layout.rope != 0;
        continue;
      }
      unchanged = unchanged || tile < layout.tiles || layout.rope != 0;
      if (tile == layout.tiles) {
        same(before->data_at(slot) + layout.codes, 2 * layout.rope);
        continue;
      }
      same(before->data_at(slot) + tile * layout.tile, layout.tile);
      same(before->scales_at(slot) + tile * layout.bytes_per_scale, layout.bytes_per_scale);
      rig.compared(0, layout.tile);
    }
  });
  rig.exercised_if(changed && unchanged);
  return differences.breach("bytes of unchanged tiles depend on other tiles");
}

}  // namespace

const Property& tiles_independent() {
  static const Property property{
      .name = "tiles_independent",
      .promise =
          "changing some tiles changes their codes and scales only: not those of other tiles, of the rope or of other "
          "tokens",
      .catches = "a reduction over too many lanes, scratch shared by two tiles: alike values in all tiles of a test hide it",
      .focus = {.values = finite_values, .indices = {2, 3, 1, 1, 0, 0, 0, 0}, .most_tokens = 24},
      .exercised_by = "a stored tile that changed and one that did not",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
