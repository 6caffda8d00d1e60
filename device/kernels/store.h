// The store functions of the built-in kernels; `state` points at the Dialect that the descriptor speaks.
#pragma once

#include <cstdint>

#include "kvproof/kernel.h"

namespace kvproof::kernels {

std::int32_t store_on_host(void* state, const kvproof_store_call* call, const char** message);

// Queues the kernel on the call's stream and does not wait for it. In a build with CUDA only.
std::int32_t store_on_cuda(void* state, const kvproof_store_call* call, const char** message);

}  // namespace kvproof::kernels
