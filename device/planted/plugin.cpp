// The planted kernels as a plug-in: what checks the checker goes in by the door that everyone uses.
#include "planted/descriptors.h"

extern "C" KVPROOF_EXPORT const kvproof_kernel* kvproof_kernels(uint32_t abi_version, size_t* count) {
  using namespace kvproof::planted;
  if (abi_version != KVPROOF_ABI_VERSION) {
    return nullptr;
  }
  static const std::vector<kvproof_kernel> kernels = [] {
    std::vector<kvproof_kernel> all;
    add_host_kernels(all);
#if defined(KVPROOF_HAS_CUDA)
    add_cuda_kernels(all);
#endif
    return all;
  }();
  *count = kernels.size();
  return kernels.data();
}
