// What is read from the cache and stored again is the same: the values that a cache holds are a fixed point.
#include <fmt/format.h>

#include "../derive.h"
#include "finite_values.h"
#include "kvproof/properties/property.h"
#include "kvproof/reference/load.h"

namespace kvproof {
namespace {

// The case with the values that were stored, where the input type can hold them; `loaded` says for which tiles.
Case loaded_case(const Case& c, const Dialect& dialect, const PoolAfter& stored, std::vector<bool>& loaded) {
  const LayoutShape layout = layout_shape(c.shape.layout);
  Case again = c;
  loaded.assign(static_cast<std::size_t>(c.shape.tokens * layout.tiles), false);
  for_each_row(stored, stored, [&](std::int64_t token, std::int64_t slot) {
    for (int tile = 0; tile < layout.tiles; ++tile) {
      if (!tile_can_divide(c, token, tile, dialect)) {
        continue;
      }
      std::vector<std::uint32_t> patterns;
      bool held = true;
      for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
        const F32 value = load_value(stored.bytes.data(), c.shape, slot / c.shape.page_size, slot % c.shape.page_size, i);
        held = held && f32_is_finite(value);
        patterns.push_back(held ? pattern_near(value, c.shape.input_type) : 0);
        held = held && element_to_f32(patterns.back(), c.shape.input_type) == value;
      }
      if (!held) {
        continue;
      }
      loaded[static_cast<std::size_t>(token * layout.tiles + tile)] = true;
      for (int i = 0; i < layout.tile; ++i) {
        set_element(again, token, tile * layout.tile + i, patterns[static_cast<std::size_t>(i)]);
      }
    }
  });
  return again;
}

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  const LayoutShape layout = layout_shape(c.shape.layout);
  const auto once = rig.run(c);
  if (!once) {
    return std::nullopt;
  }
  std::vector<bool> loaded;
  const Case again = loaded_case(c, rig.subject().dialect, *once, loaded);
  const auto twice = rig.run(again);
  if (!twice) {
    return std::nullopt;
  }
  constexpr int one_binade = 8;  // codes
  const int half_limit = fp8_limit_code(c.shape.fp8, dialect_limit(rig.subject().dialect, c.shape.fp8)) - one_binade;
  Differences differences;
  for_each_row(*once, *twice, [&](std::int64_t token, std::int64_t slot) {
    for (int tile = 0; tile < layout.tiles; ++tile) {
      if (!loaded[static_cast<std::size_t>(token * layout.tiles + tile)]) {
        continue;
      }
      rig.compared(layout.tile + layout.bytes_per_scale, layout.tile);
      rig.exercised_if(true);
      std::uint8_t largest = 0;
      for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
        largest = std::max(largest, static_cast<std::uint8_t>(once->data(slot)[i] & 0x7F));
      }
      for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
        const auto value = [&](const PoolAfter& after) {
          return load_value(after.bytes.data(), c.shape, slot / c.shape.page_size, slot % c.shape.page_size, i);
        };
        const std::uint8_t one = once->data(slot)[i];
        const std::uint8_t two = twice->data(slot)[i];
        // An amax that was rounded down to half of the limit fits the scale a binade lower: then the codes double.
        const bool same = largest == half_limit ? value(*once) == value(*twice) : one == two;
        if (!same) {
          differences.add(fmt::format("{}: 0x{:02x}, and 0x{:02x} when stored again",
                                      place_in_pool(c.shape, once->data_at(slot) + i), one, two));
        }
      }
      for (int i = tile * layout.bytes_per_scale; largest != half_limit && i < (tile + 1) * layout.bytes_per_scale; ++i) {
        if (once->scales(slot)[i] != twice->scales(slot)[i]) {
          differences.add(fmt::format("{}: 0x{:02x}, and 0x{:02x} when stored again",
                                      place_in_pool(c.shape, once->scales_at(slot) + i), once->scales(slot)[i],
                                      twice->scales(slot)[i]));
        }
      }
    }
  });
  return differences.breach("bytes change when what they hold is stored again");
}

// A raw fp32 scale is a rounded ratio: M times it is not the amax that it came from, and mostly no value of the input type.
bool applies(const Subject& subject) {
  return subject.dialect.scale != Scale::fp32 && divides_by_stored_scale(subject.dialect);
}

}  // namespace

const Property& stored_values_store_again() {
  static const Property property{
      .name = "stored_values_store_again",
      .promise =
          "values read from the cache and stored again give the same bytes; where their amax is half of M, the same values",
      .catches =
          "a scale one binade high, codes that move at every copy through a page that is evicted and recomputed: each "
          "single store is within tolerance",
      .focus = {.values = finite_values, .indices = {2, 3, 1, 1, 0, 0, 0, 0}, .most_tokens = 24},
      .exercised_by = "a tile whose stored values the input type can hold, stored twice",
      .applies = applies,
      .where = "dialects whose scale is a power of two, and that divide by it",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
