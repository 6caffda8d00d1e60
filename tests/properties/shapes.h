// Shapes that break kernels, by name: the same tests on every machine that kvproof has kernels for.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "kvproof/device/memory.h"
#include "kvproof/device/subject.h"

namespace kvproof {

struct Machine {
  const char* name;
  std::unique_ptr<Memory> (*memory)();
  std::vector<Subject> (*subjects)();
  // Done, or queued on the stream, after what is there: bytes copied; a byte xored with `bits`.
  void (*copy)(std::uint8_t* to, const std::uint8_t* from, std::int64_t count, void* stream);
  void (*flip)(std::uint8_t* at, std::uint8_t bits, void* stream);
  bool large;  // has gigabytes to spare, and encodes a million rows in no time
};

inline std::ostream& operator<<(std::ostream& out, const Machine& machine) { return out << machine.name; }

class Shapes : public testing::TestWithParam<Machine> {};

}  // namespace kvproof
