// The driver's virtual memory interface: addresses apart from the memory behind them. The entry points are asked for at run
// time, so that a binary starts where no driver is installed.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <vector>

namespace kvproof {

// The driver's functions, found once. Throws CannotRun when the driver or the device lacks them.
class CudaAddresses {
 public:
  explicit CudaAddresses(int device);

  // Memory is handed out in multiples of this many bytes.
  std::int64_t granularity() const { return granularity_; }

  CUdeviceptr reserve(std::int64_t bytes) const;
  void give_back(CUdeviceptr at, std::int64_t bytes) const noexcept;

  CUmemGenericAllocationHandle create(std::int64_t bytes) const;
  // The memory stays as long as it is mapped somewhere.
  void release(CUmemGenericAllocationHandle memory) const noexcept;

  // Puts the memory at an address; it can be used once `open` was called for the range.
  void map(CUdeviceptr at, std::int64_t bytes, CUmemGenericAllocationHandle memory) const;
  void unmap(CUdeviceptr at, std::int64_t bytes) const noexcept;
  void open(CUdeviceptr at, std::int64_t bytes) const;

 private:
  void require(CUresult status, const char* what, std::int64_t bytes) const;

  decltype(&cuGetErrorString) get_error_string_ = nullptr;
  decltype(&cuDeviceGetAttribute) device_get_attribute_ = nullptr;
  decltype(&cuMemGetAllocationGranularity) get_granularity_ = nullptr;
  decltype(&cuMemAddressReserve) address_reserve_ = nullptr;
  decltype(&cuMemAddressFree) address_free_ = nullptr;
  decltype(&cuMemCreate) create_ = nullptr;
  decltype(&cuMemRelease) release_ = nullptr;
  decltype(&cuMemMap) map_ = nullptr;
  decltype(&cuMemUnmap) unmap_ = nullptr;
  decltype(&cuMemSetAccess) set_access_ = nullptr;
  CUmemAllocationProp properties_{};
  std::int64_t granularity_ = 0;
};

// A range of device addresses, whatever is mapped in it given back with it.
class CudaRange {
 public:
  CudaRange(const CudaAddresses& addresses, std::int64_t bytes)
      : addresses_(&addresses), begin_(addresses.reserve(bytes)), bytes_(bytes) {}
  ~CudaRange() {
    // Only what was mapped by one call may be unmapped by one.
    CUdeviceptr at = mapped_;
    for (const std::int64_t bytes : pieces_) {
      addresses_->unmap(at, bytes);
      at += static_cast<CUdeviceptr>(bytes);
    }
    addresses_->give_back(begin_, bytes_);
  }
  CudaRange(const CudaRange&) = delete;
  CudaRange& operator=(const CudaRange&) = delete;

  CUdeviceptr begin() const { return begin_; }

  // Maps the memory behind what is mapped already; the first call says where that begins.
  void append(CUdeviceptr at, std::int64_t bytes, CUmemGenericAllocationHandle memory) {
    addresses_->map(at, bytes, memory);
    mapped_ = pieces_.empty() ? at : mapped_;
    pieces_.push_back(bytes);
    mapped_bytes_ += bytes;
  }
  void open() const { addresses_->open(mapped_, mapped_bytes_); }

 private:
  const CudaAddresses* addresses_;
  CUdeviceptr begin_;
  std::int64_t bytes_;
  CUdeviceptr mapped_ = 0;
  std::int64_t mapped_bytes_ = 0;
  std::vector<std::int64_t> pieces_;
};

}  // namespace kvproof
