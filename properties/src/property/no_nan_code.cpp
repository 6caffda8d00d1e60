// Finite input never becomes a NaN code, nor a code beyond the largest value the port scales to.
#include <fmt/format.h>

#include "../derive.h"
#include "kvproof/properties/property.h"
#include "kvproof/properties/stored_tiles.h"
#include "kvproof/reference/fp8_to_f32.h"

namespace kvproof {
namespace {

std::optional<Breach> broken(const Trial& trial) {
  const StoreShape& s = trial.run->shape;
  const F32 limit = dialect_limit_f32(trial.subject->dialect, s.fp8);
  Breach breach;
  breach.places = places_in_stored_tiles(trial, [&](const Observation& seen, const StoredTile& stored, auto add) {
    if (!stored.divides) {
      return;
    }
    for (int i = 0; i < layout_shape(s.layout).tile; ++i) {
      const std::uint8_t code = stored.codes[i];
      const bool nan = fp8_is_nan(code, s.fp8);
      if (was_written(seen, stored.codes_offset + i) && (nan || f32_magnitude(fp8_to_f32(code, s.fp8)) > limit)) {
        add(fmt::format("code of page {} slot {} tile {} element {}: 0x{:02x} is {}, from finite input", stored.page,
                        stored.slot, stored.tile, i, code, nan ? "NaN" : "beyond the largest value"));
      }
    }
  });
  if (breach.places.empty()) {
    return std::nullopt;
  }
  breach.summary = fmt::format("{} codes that finite input cannot give", breach.places.size());
  return breach;
}

bool exercises(const Trial& trial) {
  const int tiles = layout_shape(trial.run->shape.layout).tiles;
  return any_stored(trial, [&](std::int64_t token, const Location&) {
    for (int tile = 0; tile < tiles; ++tile) {
      if (tile_can_divide(*trial.run, token, tile, trial.subject->dialect)) {
        return true;
      }
    }
    return false;
  });
}

}  // namespace

const Property& no_nan_code() {
  static const Property property{
      .name = "no_nan_code",
      .promise =
          "finite input gives no NaN code and none beyond M, where the dialect's scale can be divided by: without a floor "
          "that of zeros cannot",
      .catches =
          "a missing clamp, 0x80 for a negative underflow in e4m3fnuz: one NaN in a key spreads over a whole attention row",
      .focus = {.values = {1, 3, 2, 4, 2, 2, 2, 5, 2, 3, 0, 0}, .indices = {2, 3, 1, 1, 0, 0, 0, 1}, .most_tokens = 48},
      .exercised_by = "a finite tile that is stored, by whose scale the dialect can divide",
      .broken = broken,
      .looks_at_pool = true,
      .exercises = exercises,
  };
  return property;
}

}  // namespace kvproof
