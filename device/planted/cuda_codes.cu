#include "planted/store_cuda.h"

namespace kvproof::planted {

void add_cuda_codes(std::vector<kvproof_kernel>& kernels) {
  add_all_on_cuda(kernels, Codes{});
  add_all_on_cuda(kernels, Ropes{});
}

}  // namespace kvproof::planted
