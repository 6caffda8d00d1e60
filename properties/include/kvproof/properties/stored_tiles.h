// The tiles that a trial's slots hold, for properties that look at the result alone. What was never written is for
// values_exact to tell: these properties judge values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kvproof/properties/trial.h"
#include "kvproof/reference/row.h"

namespace kvproof {

struct StoredTile {
  std::int64_t page;
  std::int64_t slot;
  int tile;
  const std::uint8_t* codes;  // layout's tile of them
  const std::uint8_t* scale;  // bytes_per_scale of them
  bool nan;                   // some contender's tile has a NaN
  bool infinite;              // some contender's tile has an infinity
  std::int64_t codes_offset;  // from the pool's base
  std::int64_t scale_offset;
};

// Whether a byte was written. One that was given its poison's own value is taken for unwritten; under the complementary
// poison it is not.
inline bool was_written(const Observation& seen, std::int64_t offset) {
  return seen.pool.data()[offset] != poison_byte(pool_poison(seen.poison), offset);
}

// Calls `take` with every tile of every owned slot of one observation. A pool too large to be copied to the host was
// compared with the model where it is, byte for byte, which says more than these tiles would.
template <class Take>
void for_each_stored_tile(const Trial& trial, const Observation& seen, Take take) {
  const StoreShape& s = trial.run->shape;
  const LayoutShape layout = layout_shape(s.layout);
  if (seen.pool.bytes.empty()) {
    return;
  }
  for (std::int64_t page = 0; page < s.pages; ++page) {
    for (std::int64_t slot = 0; slot < s.page_size; ++slot) {
      const std::int32_t head = trial.expected.first[static_cast<std::size_t>(page * s.page_size + slot)];
      if (head == nobody) {
        continue;
      }
      for (int tile = 0; tile < layout.tiles; ++tile) {
        const std::int64_t codes = page * s.page_stride + data_offset(s.layout, slot) + tile * layout.tile;
        const std::int64_t scale =
            page * s.page_stride + scale_offset(s.layout, slot, s.page_size) + tile * layout.bytes_per_scale;
        StoredTile stored{page, slot, tile, seen.pool.data() + codes, seen.pool.data() + scale, false, false, codes, scale};
        for (std::int32_t token = head; token != nobody; token = trial.expected.next[static_cast<std::size_t>(token)]) {
          const std::uint8_t* row = trial.run->input.data() + token * s.row_stride;
          for (int i = 0; i < layout.tile; ++i) {
            const F32 x = element_to_f32(element_bits(row, s.input_type, tile * layout.tile + i), s.input_type);
            stored.nan = stored.nan || f32_is_nan(x);
            stored.infinite = stored.infinite || f32_is_infinity(x);
          }
        }
        take(stored);
      }
    }
  }
}

// What `judge_tile(seen, stored, add)` has to say of the stored tiles, told through `add(text)`: that of the first run that
// gives any, at most Judgement::kept of it.
template <class JudgeTile>
std::vector<std::string> places_in_stored_tiles(const Trial& trial, JudgeTile judge_tile) {
  std::vector<std::string> places;
  const auto add = [&places](std::string place) {
    if (places.size() < static_cast<std::size_t>(Judgement::kept)) {
      places.push_back(std::move(place));
    }
  };
  for (const Observation& seen : trial.seen) {
    for_each_stored_tile(trial, seen, [&](const StoredTile& stored) { judge_tile(seen, stored, add); });
    if (!places.empty()) {
      break;
    }
  }
  return places;
}

}  // namespace kvproof
