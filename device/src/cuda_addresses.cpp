#include "cuda_addresses.h"

#include <fmt/format.h>

#include "cuda_status.h"

namespace kvproof {
namespace {

template <class Function>
void find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  // The version whose signatures the header declares under the plain names.
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, 11020, cudaEnableDefault, &result);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess || found == nullptr) {
    cudaGetLastError();  // a missing function is no error of what comes next
    throw CannotRun(fmt::format("CUDA: the driver has no {}", name));
  }
  function = reinterpret_cast<Function>(found);
}

}  // namespace

CudaAddresses::CudaAddresses(int device) {
  find("cuGetErrorString", get_error_string_);
  find("cuDeviceGetAttribute", device_get_attribute_);
  find("cuMemGetAllocationGranularity", get_granularity_);
  find("cuMemAddressReserve", address_reserve_);
  find("cuMemAddressFree", address_free_);
  find("cuMemCreate", create_);
  find("cuMemRelease", release_);
  find("cuMemMap", map_);
  find("cuMemUnmap", unmap_);
  find("cuMemSetAccess", set_access_);
  int supported = 0;
  require(device_get_attribute_(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device),
          "cuDeviceGetAttribute", 0);
  if (supported == 0) {
    throw CannotRun("CUDA: the device has no virtual memory interface");
  }
  properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties_.location.id = device;
  std::size_t bytes = 0;
  require(get_granularity_(&bytes, &properties_, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "cuMemGetAllocationGranularity", 0);
  granularity_ = static_cast<std::int64_t>(bytes);
}

void CudaAddresses::require(CUresult status, const char* what, std::int64_t bytes) const {
  if (status != CUDA_SUCCESS) {
    const char* text = nullptr;
    get_error_string_(status, &text);
    throw CannotRun(fmt::format("CUDA: {} of {} bytes failed: {} ({})", what, bytes,
                                text == nullptr ? "unknown error" : text, static_cast<int>(status)));
  }
}

CUdeviceptr CudaAddresses::reserve(std::int64_t bytes) const {
  CUdeviceptr at = 0;
  require(address_reserve_(&at, static_cast<std::size_t>(bytes), 0, 0, 0), "reserving addresses", bytes);
  return at;
}

void CudaAddresses::give_back(CUdeviceptr at, std::int64_t bytes) const noexcept {
  address_free_(at, static_cast<std::size_t>(bytes));
}

CUmemGenericAllocationHandle CudaAddresses::create(std::int64_t bytes) const {
  CUmemGenericAllocationHandle memory = 0;
  require(create_(&memory, static_cast<std::size_t>(bytes), &properties_, 0), "allocation", bytes);
  return memory;
}

void CudaAddresses::release(CUmemGenericAllocationHandle memory) const noexcept { release_(memory); }

void CudaAddresses::map(CUdeviceptr at, std::int64_t bytes, CUmemGenericAllocationHandle memory) const {
  require(map_(at, static_cast<std::size_t>(bytes), 0, memory, 0), "mapping", bytes);
}

void CudaAddresses::unmap(CUdeviceptr at, std::int64_t bytes) const noexcept { unmap_(at, static_cast<std::size_t>(bytes)); }

void CudaAddresses::open(CUdeviceptr at, std::int64_t bytes) const {
  CUmemAccessDesc access{};
  access.location = properties_.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  require(set_access_(at, static_cast<std::size_t>(bytes), &access, 1), "opening", bytes);
}

}  // namespace kvproof
