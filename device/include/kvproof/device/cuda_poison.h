// Poison on the GPU.
#pragma once

#include <cstdint>

#include "kvproof/device/poison.h"

namespace kvproof {

// Queues the poisoning of `count` bytes of device memory, the first of them at `offset` of the poison. Throws CannotRun when
// it cannot be queued.
void fill_poison_on_cuda(const Poison& poison, std::int64_t offset, std::uint8_t* to, std::int64_t count, void* stream);

}  // namespace kvproof
