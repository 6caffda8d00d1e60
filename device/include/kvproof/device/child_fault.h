// What a child says about a fault in its kernel before it dies of it: the address, against the buffers of the call.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "kvproof/device/child_channel.h"
#include "kvproof/device/subject.h"

namespace kvproof {

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

enum class Access : std::uint32_t { unknown, read, write };

// Plain, as a signal handler fills it in and writes it out.
struct FaultReport {
  std::int32_t signal = 0;
  std::int32_t code = 0;
  std::uint64_t address = 0;
  Access access = Access::unknown;
  std::uint32_t in_kernel = 0;  // 0: after the kernel had returned
  std::uint64_t stack_pointer = 0;
  AddressRange pool;
  AddressRange input;
  AddressRange indices;
};

// "write 8 bytes past the end of the pool", "read at address 0x10, through a null pointer"; empty when nothing is known.
std::string describe(const FaultReport& fault);

// What a kernel threw. `out_of_memory` for std::bad_alloc.
class KernelThrew : public std::runtime_error {
 public:
  KernelThrew(const std::string& text, bool no_memory) : std::runtime_error(text), out_of_memory(no_memory) {}
  bool out_of_memory;
};

// The subject with a store function that notes the call's buffers for fault reports and turns whatever the kernel throws
// into KernelThrew. Valid as long as the copy lives.
Subject watched(const Subject& subject);

// Calls of watched store functions begun so far.
std::uint64_t watched_calls();

// From here on a fault in this process is written to the channel, as part of the question at hand, before it takes its
// course.
void report_faults(const ChildEnd& channel);

}  // namespace kvproof
