// Bytes changed on the GPU by kernels, as a stray write of a kernel under test would.
#pragma once

#include <cstdint>

namespace kvproof {

// Queues: the byte becomes `value`; the byte is xored with `bits`; `count` bytes are copied, one after the other.
void poke(std::uint8_t* at, std::uint8_t value, void* stream);
void flip(std::uint8_t* at, std::uint8_t bits, void* stream);
void copy(std::uint8_t* to, const std::uint8_t* from, std::int64_t count, void* stream);
// Queues a read of the byte that no compiler can leave out.
void peek(const std::uint8_t* at, void* stream);

// What the device says once all is done: 0, or the number of its error.
int device_error(void* stream);

}  // namespace kvproof
