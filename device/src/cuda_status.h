// CUDA's answers as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kvproof/device/error.h"

namespace kvproof {

inline void require_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw CannotRun(std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(status) + " (" +
                    std::to_string(static_cast<int>(status)) + ")");
  }
}

}  // namespace kvproof
