// Tells a memory checker which bytes of an allocation a store call may touch, through the NVTX memory interface: the pool is
// a heap, and only the slots of the index list are regions of it. memcheck then reports a write to any other page or slot,
// which it cannot see by itself, since all of the pool is one allocation.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtMem.h>

#include <cstdint>
#include <vector>

#include "kvproof/properties/expectation.h"

namespace kvproof::sanitizer {

// The regions are there from construction to destruction. Without a tool attached, nothing happens.
class SlotRegions {
 public:
  // `pool` is the device address of page 0; slots are those that `expected` has an owner for.
  SlotRegions(const std::uint8_t* pool, const Expectation& expected);
  ~SlotRegions();
  SlotRegions(const SlotRegions&) = delete;
  SlotRegions& operator=(const SlotRegions&) = delete;

  // How many regions were registered.
  std::size_t count() const { return ranges_.size(); }

  // Whether a tool took the heap.
  bool taken() const { return heap_ != nullptr; }

 private:
  std::vector<nvtxMemVirtualRangeDesc_t> ranges_;
  nvtxMemHeapHandle_t heap_ = nullptr;
};

}  // namespace kvproof::sanitizer
