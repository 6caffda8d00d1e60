#include "planted/store_host.h"

namespace kvproof::planted {

void add_host_kernels(std::vector<kvproof_kernel>& kernels) {
  add_all_on_host(kernels, Controls{});
  add_all_on_host(kernels, Scales{});
  add_all_on_host(kernels, Codes{});
  add_all_on_host(kernels, Ropes{});
  add_all_on_host(kernels, Addresses{});
  add_all_on_host(kernels, Batches{});
  add_all_on_host(kernels, Races{});
  add_all_on_host(kernels, Drifts{});
  add_all_on_host(kernels, Streams{});
}

}  // namespace kvproof::planted
