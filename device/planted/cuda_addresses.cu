#include "planted/store_cuda.h"

namespace kvproof::planted {

void add_cuda_addresses(std::vector<kvproof_kernel>& kernels) { add_all_on_cuda(kernels, Addresses{}); }

}  // namespace kvproof::planted
