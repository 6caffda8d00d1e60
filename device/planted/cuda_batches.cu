#include "planted/store_cuda.h"

namespace kvproof::planted {

void add_cuda_batches(std::vector<kvproof_kernel>& kernels) {
  add_all_on_cuda(kernels, Batches{});
  add_all_on_cuda(kernels, Races{});
  add_all_on_cuda(kernels, Drifts{});
}

}  // namespace kvproof::planted
