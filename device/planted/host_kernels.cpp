#include "planted/descriptors.h"
#include "planted/store_host.h"

namespace kvproof::planted {
namespace {

template <class... Defects>
void add(std::vector<kvproof_kernel>& kernels, List<Defects...>) {
  (kernels.push_back(descriptor<Defects>(KVPROOF_MEMORY_HOST, &store_on_host<Defects>)), ...);
}

}  // namespace

void add_host_kernels(std::vector<kvproof_kernel>& kernels) { add(kernels, Catalogue{}); }

}  // namespace kvproof::planted
