// A descriptor for each planted defect.
#pragma once

#include <vector>

#include "planted/catalogue.h"

namespace kvproof::planted {

// `store<Steps>` is the store function of one machine.
template <class Steps>
kvproof_kernel descriptor(std::uint32_t memory, kvproof_store_fn store) {
  kvproof_kernel kernel{};
  kernel.size = sizeof kernel;
  kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_FLASHMLA) | KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
  kernel.name = Steps::name;
  kernel.dialect = "strict";
  kernel.input_types = KVPROOF_SET(KVPROOF_BF16) | KVPROOF_SET(KVPROOF_FP16) | KVPROOF_SET(KVPROOF_FP32);
  kernel.index_types = KVPROOF_SET(KVPROOF_INT32) | KVPROOF_SET(KVPROOF_INT64);
  kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN) | KVPROOF_SET(KVPROOF_E4M3FNUZ);
  kernel.duplicates = memory == KVPROOF_MEMORY_HOST ? KVPROOF_DUPLICATES_LAST : KVPROOF_DUPLICATES_BYTE;
  kernel.memory = memory;
  kernel.store = store;
  return kernel;
}

// Adds the descriptors of one machine; each is defined where its compiler sees the steps.
void add_host_kernels(std::vector<kvproof_kernel>& kernels);
void add_cuda_kernels(std::vector<kvproof_kernel>& kernels);

}  // namespace kvproof::planted
