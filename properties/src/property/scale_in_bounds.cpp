// Every stored scale lies between the dialect's scale of an all-zero tile and its scale of the largest input.
#include <fmt/format.h>

#include <bit>

#include "kvproof/properties/property.h"
#include "kvproof/properties/stored_tiles.h"

namespace kvproof {
namespace {

// The largest finite magnitude of an input type.
F32 largest_finite(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return f32_largest_bf16;
    case ElementType::fp16:
      return 0x477FE000U;
    case ElementType::fp32:
      break;
  }
  return f32_infinity - 1;
}

std::optional<Breach> broken(const Trial& trial) {
  const StoreShape& s = trial.run->shape;
  const Dialect& dialect = trial.subject->dialect;
  const F32 lowest = tile_scale(0, dialect, s.fp8).stored;
  const F32 highest = tile_scale(largest_finite(s.input_type), dialect, s.fp8).stored;
  const F32 of_infinity = dialect.infinity == Infinity::as_largest_bf16 ? tile_scale(f32_largest_bf16, dialect, s.fp8).stored
                                                                        : tile_scale(f32_infinity, dialect, s.fp8).stored;
  const int digits = s.layout == Layout::flashmla ? 2 : 8;
  Breach breach;
  breach.places = places_in_stored_tiles(trial, [&](const Observation& seen, const StoredTile& stored, auto add) {
    F32 scale = 0;
    bool written = false;
    for (int byte = 0; byte < layout_shape(s.layout).bytes_per_scale; ++byte) {
      scale |= static_cast<F32>(stored.scale[byte]) << (8 * byte);
      written = written || was_written(seen, stored.scale_offset + byte);
    }
    const bool fits = !written || (scale >= lowest && scale <= highest) || (stored.infinite && scale == of_infinity);
    if (!fits) {
      add(fmt::format("scale of page {} slot {} tile {}: 0x{:0{}x}, expected 0x{:0{}x} to 0x{:0{}x}", stored.page,
                      stored.slot, stored.tile, scale, digits, lowest, digits, highest, digits));
    }
  });
  if (breach.places.empty()) {
    return std::nullopt;
  }
  breach.summary = fmt::format("{} scales out of bounds", breach.places.size());
  return breach;
}

}  // namespace

const Property& scale_in_bounds() {
  static const Property property{
      .name = "scale_in_bounds",
      .promise = "every scale lies between that of an all-zero tile and that of the largest finite input",
      .catches = "no floor, another port's floor, byte 255 from finite input: readers decode it as NaN or infinity",
      .focus = {.values = {4, 1, 3, 2, 0, 0, 6, 5, 1, 2, 1, 1}, .indices = {2, 3, 1, 1, 0, 0, 0, 1}, .most_tokens = 48},
      .broken = broken,
      .looks_at_pool = true,
  };
  return property;
}

}  // namespace kvproof
