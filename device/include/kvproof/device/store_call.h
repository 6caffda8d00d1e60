// A store call as a kernel under test receives it.
#pragma once

#include "kvproof/kernel.h"
#include "kvproof/reference/call.h"

namespace kvproof {

// The call that stores `shape.tokens` rows.
kvproof_store_call store_call(const StoreShape& shape, void* pool, const void* input, const void* indices, void* stream);

// The call of `tokens` of its tokens, from `first` on.
kvproof_store_call part_of(const kvproof_store_call& whole, std::int64_t first, std::int64_t tokens);

}  // namespace kvproof
