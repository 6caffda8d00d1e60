#include "planted/descriptors.h"
#include "planted/store_cuda.h"

namespace kvproof::planted {
namespace {

template <class... Defects>
void add(std::vector<kvproof_kernel>& kernels, List<Defects...>) {
  (kernels.push_back(descriptor<Defects>(KVPROOF_MEMORY_CUDA, &store_on_cuda<Defects>)), ...);
}

}  // namespace

void add_cuda_kernels(std::vector<kvproof_kernel>& kernels) { add(kernels, Catalogue{}); }

}  // namespace kvproof::planted
