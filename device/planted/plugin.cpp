// The planted kernels as a plug-in: what checks the checker goes in by the door that everyone uses.
#include "kvproof/planted.h"
#include "planted/descriptors.h"

namespace kvproof::planted {
namespace {

std::vector<kvproof_kernel> all_kernels() {
  std::vector<kvproof_kernel> kernels;
  add_host_kernels(kernels);
#if defined(KVPROOF_HAS_CUDA)
  add_cuda_scales(kernels);
  add_cuda_codes(kernels);
  add_cuda_addresses(kernels);
  add_cuda_batches(kernels);
#endif
  return kernels;
}

template <class... Defects>
void add(std::vector<kvproof_planted_defect>& defects, List<Defects...>) {
  (defects.push_back({sizeof(kvproof_planted_defect), static_cast<std::uint32_t>(Defects::kind), Defects::name,
                      Defects::defect, Defects::reenacts, Defects::seen_by, Defects::machines, Defects::by_chance}),
   ...);
}

std::vector<kvproof_planted_defect> all_defects() {
  std::vector<kvproof_planted_defect> defects;
  add(defects, Scales{});
  add(defects, Codes{});
  add(defects, Ropes{});
  add(defects, Addresses{});
  add(defects, Batches{});
  add(defects, Races{});
  add(defects, Drifts{});
  add(defects, Streams{});
  return defects;
}

}  // namespace
}  // namespace kvproof::planted

extern "C" KVPROOF_EXPORT const kvproof_kernel* kvproof_kernels(uint32_t abi_version, size_t* count) {
  if (abi_version != KVPROOF_ABI_VERSION) {
    return nullptr;
  }
  static const std::vector<kvproof_kernel> kernels = kvproof::planted::all_kernels();
  *count = kernels.size();
  return kernels.data();
}

extern "C" KVPROOF_EXPORT const kvproof_planted_defect* kvproof_planted_defects(size_t* count) {
  static const std::vector<kvproof_planted_defect> defects = kvproof::planted::all_defects();
  *count = defects.size();
  return defects.data();
}
