// What a kernel has taken of the host's memory.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace kvproof {

// Bytes that a process and all that it has started hold alone: neither of a file nor shared, so that mirrored guards, mapped
// again and again, do not count. Of what a started process still shares with others unwritten, its part.
std::int64_t own_memory_of(pid_t process);

}  // namespace kvproof
