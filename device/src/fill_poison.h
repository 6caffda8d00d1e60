// Poison, written on the host.
#pragma once

#include "kvproof/device/guarded.h"

namespace kvproof {

// Poisons `count` bytes from `offset` on; both may be odd.
void fill_poison(const Poison& poison, std::int64_t offset, std::uint8_t* to, std::int64_t count);

// Poisons the guards of a span, the buffer left out.
void fill_guards(const Poison& poison, const GuardedSpan& span);

}  // namespace kvproof
