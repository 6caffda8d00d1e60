// The arena: pool, input and indices between guards, all of it known byte by byte before a kernel runs.
//
//   [ mirror | guard | pool | guard | mirror ]    poisoned, gigabytes on both sides
//   inaccessible [ guard | input ] inaccessible   or [ input | guard ]
//   inaccessible [ guard | indices ] inaccessible
//
// Memory that cannot be mapped at will (a plug-in's own, an old device) has plain guards on both sides of each buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kvproof/device/guarded.h"
#include "kvproof/device/launch.h"
#include "kvproof/device/memory.h"
#include "kvproof/device/poison.h"
#include "kvproof/device/subject.h"

namespace kvproof {

enum class Outcome : std::uint32_t { stored, refused, failed };

// What one run left behind.
struct Observation {
  Outcome outcome = Outcome::stored;
  std::string message;                     // of a refusal or a failure
  std::vector<std::size_t> refused_steps;  // of a launch of several
  Poison poison;
  GuardedBytes pool;
  std::optional<SparsePool> sparse;  // instead of `pool`, where that is large and on the host
  GuardedBytes input;
  GuardedBytes indices;
  FarGuards far;
  std::optional<OnDevice> device;  // set where nothing has been copied back yet

  // Whether the pool is here, by its bytes or by its touched pages.
  bool has_pool() const { return sparse.has_value() || !pool.bytes.empty(); }
};

// The seeds of the buffers' poisons differ, so that a byte of one is no byte of another.
Poison pool_poison(const Poison& poison);
Poison input_poison(const Poison& poison);
Poison indices_poison(const Poison& poison);
Poison mirror_poison(const Poison& poison, bool after);

struct ArenaOptions {
  std::int64_t reach = std::int64_t{8} << 30;           // bytes of the far guard on each side of the pool
  std::int64_t largest_dense = std::int64_t{64} << 20;  // a larger pool on the host is known by its touched pages
};

// The memory beneath an arena.
class Ground;
// What a kernel says to the calls of a run.
class Answers;

class Arena {
 public:
  explicit Arena(std::unique_ptr<Memory> memory, const ArenaOptions& options = {});
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Bytes of a plain guard on each side of a pool: two pages and at least 64 KiB, a multiple of 256.
  static std::int64_t plain_guard(const StoreShape& shape);

  // Poisons everything, places input and indices, launches the kernel, waits, and copies everything back. `input` holds
  // shape.input_bytes() bytes, `indices` shape.indices_bytes(). Throws CannotRun when the device breaks, or cannot launch
  // so.
  Observation run(const Subject& subject, const StoreShape& shape, std::span<const std::uint8_t> input,
                  std::span<const std::uint8_t> indices, const Poison& poison, Placement placement = Placement::end_flush,
                  const Launch& launch = {});

  // The same, but everything stays on the device, for a judge that runs there.
  Observation run_in_place(const Subject& subject, const StoreShape& shape, std::span<const std::uint8_t> input,
                           std::span<const std::uint8_t> indices, const Poison& poison, Placement placement,
                           const Launch& launch = {});
  bool runs_in_place() const;

  // In all further runs, input or indices lie loose where `loosened` says so.
  void loosen(const std::optional<Loosened>& loosened) { loosened_ = loosened; }
  // That of the last run, which the device may have broken in.
  Placement placement() const { return placement_; }

  // Copies all that a run in place has left to the host.
  void collect(Observation& seen);
  // Copies its pool, without the guards. Throws CannotRun when it is known by its touched pages and exceeds `most_expanded`.
  void copy_pool(Observation& seen);
  static constexpr std::int64_t most_expanded = std::int64_t{1} << 30;

  // Bytes of the far guard on each side; 0 with plain guards.
  std::int64_t reach() const;

  // "NVIDIA H200", and why where the guards are not what they should be.
  std::string device() const;

  // What a judge of runs in place keeps on the device from run to run.
  std::shared_ptr<void> judge_state;

 private:
  void in_turn(const Subject& subject, const StoreShape& shape, const kvproof_store_call& whole, const Launch& launch,
               Answers& answers);

  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Ground> ground_;
  std::optional<Loosened> loosened_;
  Placement placement_ = Placement::end_flush;
  std::string note_;
};

}  // namespace kvproof
