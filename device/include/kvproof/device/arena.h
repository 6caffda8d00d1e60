// The arena: pool, input and indices between guards, all of it known byte by byte before a kernel runs.
//
//   [ guard | pool | guard ]   poisoned
//   [ guard | input | guard ]  guards poisoned, input given
//   [ guard | indices | guard ]
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kvproof/device/memory.h"
#include "kvproof/device/poison.h"
#include "kvproof/device/subject.h"

namespace kvproof {

// A buffer with its guards, copied to the host after a run. Offsets count from the buffer's first byte: guards before it
// have negative ones.
struct GuardedBytes {
  std::int64_t guard = 0;           // bytes of each guard
  std::vector<std::uint8_t> bytes;  // guard, buffer, guard

  std::int64_t size() const { return static_cast<std::int64_t>(bytes.size()) - 2 * guard; }
  const std::uint8_t* data() const { return bytes.data() + guard; }
};

enum class Outcome : std::uint32_t { stored, refused, failed };

// What one run left behind.
struct Observation {
  Outcome outcome = Outcome::stored;
  std::string message;  // of a refusal or a failure
  Poison poison;
  GuardedBytes pool;
  GuardedBytes input;
  GuardedBytes indices;
};

// The seeds of the three buffers' poisons differ, so that a byte of one is no byte of another.
Poison pool_poison(const Poison& poison);
Poison input_poison(const Poison& poison);
Poison indices_poison(const Poison& poison);

class Arena {
 public:
  explicit Arena(std::unique_ptr<Memory> memory);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Bytes of the guard on each side of a pool: two pages and at least 64 KiB, a multiple of 256.
  static std::int64_t pool_guard(const StoreShape& shape);

  // Poisons everything, places input and indices, runs the kernel once, waits, and copies everything back. `input` holds
  // shape.input_bytes() bytes, `indices` shape.indices_bytes(). Throws CannotRun when the device breaks.
  Observation run(const Subject& subject, const StoreShape& shape, std::span<const std::uint8_t> input,
                  std::span<const std::uint8_t> indices, const Poison& poison);

  std::string device() const { return memory_->device(); }

 private:
  struct Buffer {
    void* pointer = nullptr;
    std::uint64_t capacity = 0;
  };

  std::uint8_t* prepare(Buffer& buffer, const GuardedBytes& initial);
  void collect(const Buffer& buffer, GuardedBytes& bytes);

  std::unique_ptr<Memory> memory_;
  Buffer pool_;
  Buffer input_;
  Buffer indices_;
};

}  // namespace kvproof
