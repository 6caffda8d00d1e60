// The production kernels, written as what one lane of a warp does in three steps: load, reduce, store. A machine supplies
// the reduction between lanes: a shuffle on the GPU, a loop on the host.
#pragma once

#include <cstdint>

#include "kernels/address.h"
#include "kernels/elements.h"
#include "kernels/place.h"
#include "kernels/plan.h"
#include "kernels/tile.h"

namespace kvproof::kernels {

struct Lane {
  Place place;
  std::uint32_t values[lane_values];  // binary32 patterns
  std::uint32_t largest;              // the largest magnitude pattern of this lane
  float amax;                         // of this lane after load, of the tile after reduce
};

// FlashMLA: a warp a token. Lanes 0..27 carry the codes, four to a tile; lanes 28..31 the rope.
struct FlashmlaLanes {
  static constexpr int a_token = 32;
  static constexpr int a_tile = 4;

  template <class Machine, ElementType Type>
  static KVPROOF_LANE void store(const StorePlan& plan, const Lane& lane, int position) {
    std::uint8_t* data = lane.place.page + FlashmlaAddress::data(lane.place.slot);
    std::uint8_t* scales = lane.place.page + FlashmlaAddress::scales(lane.place.slot, plan.page_size);
    if (position >= 28) {
      std::uint8_t* rope = data + 448 + (position - 28) * 32;
      for (int half = 0; half < 2; ++half) {
        Block block{};
        for (int i = 0; i < 4; ++i) {
          const int first = 8 * half + 2 * i;
          block.word[i] = rope_value<Type>(lane.values[first]) | (rope_value<Type>(lane.values[first + 1]) << 16);
        }
        store_block<Machine>(rope + 16 * half, block, plan.cache_width);
      }
      if (position == 28 && plan.rules.dialect.pad == Pad::zero) {
        Machine::store1(scales + 7, 0);
      }
      return;
    }
    const TileScale scale = tile_scale<Machine>(lane.amax, plan.rules);
    store_block<Machine>(data + position * 16, tile_codes<Machine>(lane.values, lane.largest, scale.operand, plan.rules),
                         plan.cache_width);
    if (position % a_tile == 0) {
      Machine::store1(scales + position / a_tile, scale.stored);
    }
  }
};

// Indexer: eight lanes a token, four tokens a warp; the row is one tile.
struct IndexerLanes {
  static constexpr int a_token = 8;
  static constexpr int a_tile = 8;

  template <class Machine, ElementType Type>
  static KVPROOF_LANE void store(const StorePlan& plan, const Lane& lane, int position) {
    const TileScale scale = tile_scale<Machine>(lane.amax, plan.rules);
    store_block<Machine>(lane.place.page + IndexerAddress::data(lane.place.slot) + position * 16,
                         tile_codes<Machine>(lane.values, lane.largest, scale.operand, plan.rules), plan.cache_width);
    if (position == 0) {
      store_word<Machine>(lane.place.page + IndexerAddress::scales(lane.place.slot, plan.page_size), scale.stored,
                          plan.cache_width);
    }
  }
};

// `position` is the lane's place among the lanes of its token. The row does not wait for the index, so that one trip to
// memory covers both; of a token that is not stored it is read for nothing.
template <class Machine, ElementType Type>
KVPROOF_LANE void load_lane(const StorePlan& plan, std::int64_t token, int position, Lane* lane) {
  lane->amax = 0;
  lane->place = {nullptr, 0};
  if (token >= plan.tokens) {
    return;
  }
  const std::int64_t index = token_index<Machine>(plan, token);
  constexpr int bytes = lane_values * (Type == ElementType::fp32 ? 4 : 2);
  load_elements<Machine, Type>(plan.input + token * plan.row_stride + position * bytes, plan.input_width, lane->values);
  lane->place = place_of(plan, index);
  lane->largest = largest_pattern(lane->values);
  lane->amax = lane->largest < infinity_pattern ? Machine::value(lane->largest)
                                                : amax_of_special<Machine>(lane->values, plan.rules.dialect.infinity);
}

template <class Machine, class Lanes, ElementType Type>
KVPROOF_LANE void store_lane(const StorePlan& plan, const Lane& lane, int position) {
  if (lane.place.page != nullptr) {
    Lanes::template store<Machine, Type>(plan, lane, position);
  }
}

}  // namespace kvproof::kernels
