#include "planted/store_cuda.h"

namespace kvproof::planted {

void add_cuda_scales(std::vector<kvproof_kernel>& kernels) {
  add_all_on_cuda(kernels, Controls{});
  add_all_on_cuda(kernels, Scales{});
}

}  // namespace kvproof::planted
