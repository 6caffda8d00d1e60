// From a token's index to the page and slot that take it, or to none.
#pragma once

#include <cstdint>

#include "kernels/address.h"
#include "kernels/block.h"
#include "kernels/plan.h"

namespace kvproof::kernels {

struct Place {
  std::uint8_t* page;  // byte 0 of the page; null: the token is not stored
  std::int64_t slot;
};

template <class Machine>
KVPROOF_LANE std::int64_t token_index(const StorePlan& plan, std::int64_t token) {
  const int bytes = plan.index_is_wide ? 8 : 4;
  const std::uint8_t* at = plan.index + token * bytes;
  std::uint64_t bits = 0;
  if (plan.index_is_aligned) {
    bits = plan.index_is_wide ? Machine::load8(at) : Machine::load4(at);
  } else {
    for (int i = 0; i < bytes; ++i) {
      bits |= static_cast<std::uint64_t>(Machine::load1(at + i)) << (8 * i);
    }
  }
  return plan.index_is_wide ? static_cast<std::int64_t>(bits)
                            : static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)));
}

// No index outside the pool is stored, in no dialect: what a port's missing guard would do is not for production. Of the
// dialects' own rules only one skips an index inside the pool, the dummy slot 0.
KVPROOF_LANE Place place_of(const StorePlan& plan, std::int64_t index) {
  const bool dummy = index == 0 && plan.rules.dialect.invalid == InvalidIndex::non_positive;
  if (index < 0 || index >= plan.capacity || dummy) {
    return {nullptr, 0};
  }
  std::int64_t page = 0;
  if (plan.page_shift >= 0) {
    page = index >> plan.page_shift;
  } else if (index <= 0xFFFFFFFFLL) {  // a 64-bit division takes a GPU five times as long
    page = static_cast<std::uint32_t>(index) / static_cast<std::uint32_t>(plan.page_size);
  } else {
    page = index / plan.page_size;
  }
  return {plan.cache + page_begin(page, plan.page_stride), slot_of(index, page, plan.page_size)};
}

}  // namespace kvproof::kernels
