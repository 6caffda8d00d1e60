// CUDA memory through the runtime. The runtime is linked statically and finds the driver when first called, so a binary
// built with it starts on a machine that has none.
#include <fmt/format.h>

#include "kvproof/device/error.h"
#include "kvproof/device/memory.h"

#if defined(KVPROOF_HAS_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace kvproof {

#if defined(KVPROOF_HAS_CUDA)
namespace {

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw CannotRun(fmt::format("CUDA: {} failed: {} ({})", what, cudaGetErrorString(status), static_cast<int>(status)));
  }
}

class CudaMemory final : public Memory {
 public:
  CudaMemory() {
    cudaDeviceProp properties{};
    require(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    name_ = properties.name;
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~CudaMemory() override { cudaStreamDestroy(stream_); }

  void* allocate(std::uint64_t bytes) override {
    void* pointer = nullptr;
    require(cudaMalloc(&pointer, bytes), "cudaMalloc");
    return pointer;
  }
  void release(void* pointer) noexcept override { cudaFree(pointer); }
  void copy_in(void* device, const void* host, std::uint64_t bytes) override {
    require(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_), "copy to the device");
    synchronize();  // the host's bytes may be reused at once
  }
  void copy_out(void* host, const void* device, std::uint64_t bytes) override {
    require(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_), "copy from the device");
    synchronize();
  }
  void synchronize() override { require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
  void* stream() const override { return stream_; }
  std::string device() const override { return name_; }
  MemoryKind kind() const override { return MemoryKind::cuda; }

 private:
  cudaStream_t stream_ = nullptr;
  std::string name_;
};

}  // namespace

std::string cuda_absence() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    return cudaGetErrorString(status);
  }
  return count > 0 ? std::string{} : "no CUDA device";
}

std::unique_ptr<Memory> cuda_memory() {
  if (const std::string absence = cuda_absence(); !absence.empty()) {
    throw CannotRun(fmt::format("no GPU: {}", absence));
  }
  return std::make_unique<CudaMemory>();
}

#else

std::string cuda_absence() { return "this build has no CUDA (nvcc was not found)"; }

std::unique_ptr<Memory> cuda_memory() { throw CannotRun(fmt::format("no GPU: {}", cuda_absence())); }

#endif

}  // namespace kvproof
