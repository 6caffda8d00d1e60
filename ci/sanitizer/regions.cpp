#include "regions.h"

#include "kvproof/reference/layout.h"

namespace kvproof::sanitizer {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t ours = nvtxDomainCreateA("kvproof");
  return ours;
}

}  // namespace

SlotRegions::SlotRegions(const std::uint8_t* pool, const Expectation& expected) {
  const StoreShape& s = expected.shape;
  const LayoutShape layout = layout_shape(s.layout);
  const int scale_bytes = layout.scale_bytes - (expected.dialect.pad == Pad::keep ? layout.pad : 0);
  for (std::int64_t page = 0; page < s.pages; ++page) {
    for (std::int64_t slot = 0; slot < s.page_size; ++slot) {
      if (expected.first[static_cast<std::size_t>(page * s.page_size + slot)] == nobody) {
        continue;
      }
      const std::uint8_t* base = pool + page * s.page_stride;
      ranges_.push_back({static_cast<std::size_t>(layout.data_bytes), base + data_offset(s.layout, slot)});
      ranges_.push_back({static_cast<std::size_t>(scale_bytes), base + scale_offset(s.layout, slot, s.page_size)});
    }
  }
  const nvtxMemVirtualRangeDesc_t whole{static_cast<std::size_t>(s.pool_bytes()), pool};
  nvtxMemHeapDesc_t heap{};
  heap.extCompatID = NVTX_EXT_COMPATID_MEM;
  heap.structSize = sizeof heap;
  heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
  heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  heap.typeSpecificDescSize = sizeof whole;
  heap.typeSpecificDesc = &whole;
  heap_ = nvtxMemHeapRegister(domain(), &heap);
  if (heap_ == nullptr || ranges_.empty()) {
    return;
  }
  std::vector<nvtxMemRegionHandle_t> handles(ranges_.size());
  nvtxMemRegionsRegisterBatch_t batch{};
  batch.extCompatID = NVTX_EXT_COMPATID_MEM;
  batch.structSize = sizeof batch;
  batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  batch.heap = heap_;
  batch.regionCount = ranges_.size();
  batch.regionDescElementSize = sizeof(nvtxMemVirtualRangeDesc_t);
  batch.regionDescElements = ranges_.data();
  batch.regionHandleElementsOut = handles.data();
  nvtxMemRegionsRegister(domain(), &batch);
}

SlotRegions::~SlotRegions() {
  if (heap_ != nullptr) {
    nvtxMemHeapUnregister(domain(), heap_);
  }
}

}  // namespace kvproof::sanitizer
