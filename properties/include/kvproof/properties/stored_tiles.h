// The tiles that a trial's slots hold, for properties that look at the result alone. What was never written is for
// values_exact to tell: these properties judge values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kvproof/properties/trial.h"
#include "kvproof/reference/row.h"
#include "kvproof/reference/scale.h"

namespace kvproof {

inline constexpr std::size_t largest_tile = 128;  // codes
inline constexpr std::size_t largest_scale = 4;   // bytes

struct StoredTile {
  std::int64_t page;
  std::int64_t slot;
  int tile;
  const std::uint8_t* codes;  // layout's tile of them
  const std::uint8_t* scale;  // bytes_per_scale of them
  bool infinite;              // some contender's tile has an infinity
  bool divides;               // each contender's tile is finite, and the dialect can divide by its scale
  std::int64_t codes_offset;  // from the pool's base
  std::int64_t scale_offset;
};

// Whether a byte was written. One that was given its poison's own value is taken for unwritten; under the complementary
// poison it is not.
inline bool was_written(const Observation& seen, std::int64_t offset) {
  const Poison poison = pool_poison(seen.poison);
  return seen.sparse ? seen.sparse->byte(offset) != seen.sparse->byte_before(poison, offset)
                     : seen.pool.data()[offset] != poison_byte(poison, offset);
}

// Calls `take` with every tile of every owned slot of one observation; with none where its pool is not on the host. The
// trial says so, and a property that looks at these tiles then counts nothing as compared.
template <class Take>
void for_each_stored_tile(const Trial& trial, const Observation& seen, Take take) {
  const StoreShape& s = trial.run->shape;
  const LayoutShape layout = layout_shape(s.layout);
  if (!seen.has_pool()) {
    return;
  }
  trial.expected.each_owned([&](std::int64_t owned, std::int32_t head) {
    const std::int64_t page = owned / s.page_size;
    const std::int64_t slot = owned % s.page_size;
    std::array<std::uint8_t, largest_tile> copied_codes;
    std::array<std::uint8_t, largest_scale> copied_scale;
    for (int tile = 0; tile < layout.tiles; ++tile) {
      const std::int64_t codes = page * s.page_stride + data_offset(s.layout, slot) + tile * layout.tile;
      const std::int64_t scale =
          page * s.page_stride + scale_offset(s.layout, slot, s.page_size) + tile * layout.bytes_per_scale;
      StoredTile stored{page, slot, tile, copied_codes.data(), copied_scale.data(), false, true, codes, scale};
      if (seen.sparse) {
        seen.sparse->copy(codes, layout.tile, copied_codes.data());
        seen.sparse->copy(scale, layout.bytes_per_scale, copied_scale.data());
      } else {
        stored.codes = seen.pool.data() + codes;
        stored.scale = seen.pool.data() + scale;
      }
      for (std::int32_t token = head; token != nobody; token = trial.expected.next[static_cast<std::size_t>(token)]) {
        const std::uint8_t* row = trial.run->input.data() + token * s.row_stride;
        F32 amax = 0;
        for (int i = 0; i < layout.tile; ++i) {
          const F32 x = element_to_f32(element_bits(row, s.input_type, tile * layout.tile + i), s.input_type);
          stored.infinite = stored.infinite || f32_is_infinity(x);
          amax = std::max(amax, f32_magnitude(x));
        }
        stored.divides = stored.divides && f32_is_finite(amax) && can_divide(amax, trial.subject->dialect, s.fp8);
      }
      take(stored);
    }
  });
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
