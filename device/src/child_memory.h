// What a kernel has taken of the host's memory.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace kvproof {

// Bytes that a process and all that it has started hold: their own, and what the process maps shared that is neither a file
// on a disk nor kvproof's, so that mirrored guards, mapped again and again, do not count. Of what a started process shares
// with others unwritten, its part. Whose the shared memory is takes milliseconds to find out, and is asked only of a process
// that holds more than `enough` bytes of any kind.
std::int64_t own_memory_of(pid_t process, std::int64_t enough = 0);

}  // namespace kvproof
