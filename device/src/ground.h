// The memory beneath an arena: where pool, input and indices lie, and the guards around them.
#pragma once

#include <memory>
#include <span>

#include "kvproof/device/arena.h"

namespace kvproof {

class Ground {
 public:
  Ground() = default;
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;
  virtual ~Ground() = default;

  // A pool for the shape, it and its guards poisoned, far ones too.
  virtual GuardedSpan pool(const StoreShape& shape, const Poison& poison) = 0;

  // A copy of `bytes` for the kernel, what lies beside it poisoned.
  virtual GuardedSpan given(Given which, std::span<const std::uint8_t> bytes, const Poison& poison, Placement placement) = 0;

  virtual void collect(const GuardedSpan& region, GuardedBytes& bytes) = 0;

  // The pool in place by its touched pages, where it is too large to be collected.
  virtual std::optional<SparsePool> sparse_pool() { return std::nullopt; }

  // What has changed in the far guards since `pool` gave out its region.
  virtual FarGuards far() { return {}; }

  virtual std::int64_t reach() const { return 0; }

  // The mirrors, where a judge on the device reads them; nothing where it cannot.
  virtual std::optional<std::array<MirrorSpan, 2>> mirrors() const { return std::nullopt; }
};

inline constexpr std::int64_t given_guard = 4 * 1024;  // beside input and indices, on the side that is not flush
inline constexpr std::int64_t loose_guard = 1 << 20;   // at least, on the side that is loose
inline constexpr std::int64_t given_alignment = 16;

// Addresses beside the arena's memory that nothing is mapped to, so that what strays far faults too instead of touching
// whatever lies there.
inline constexpr std::int64_t wide_margin = std::int64_t{4} << 30;

// The placement without its edge.
inline Placement loose_of(Placement placement) {
  return placement == Placement::end_flush     ? Placement::end_loose
         : placement == Placement::start_flush ? Placement::start_loose
                                               : placement;
}

// Where `bytes` of input or indices lie in a room of `room` bytes that ends and begins at unreadable memory; the room holds
// given_room(bytes, placement) at least.
GuardedSpan place_given(std::uint8_t* room_begin, std::int64_t room, std::int64_t bytes, Placement placement);
std::int64_t given_room(std::int64_t bytes, Placement placement);

// Of any memory, its guards plain.
std::unique_ptr<Ground> plain_ground(Memory& memory);

// Of the host; pools larger than `largest_dense` are sparse. Throws CannotRun when the addresses cannot be had.
std::unique_ptr<Ground> host_ground(std::int64_t reach, std::int64_t largest_dense);

// Of a CUDA device. Throws CannotRun when the device has no virtual memory interface or the addresses cannot be had.
std::unique_ptr<Ground> cuda_ground(Memory& memory, std::int64_t reach);

}  // namespace kvproof
