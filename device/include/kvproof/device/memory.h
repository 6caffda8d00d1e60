// Where a kernel's pointers point: one interface over host memory, CUDA memory and a plug-in's own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kvproof/device/subject.h"

namespace kvproof {

// Every function throws CannotRun when the device cannot do it.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  virtual void* allocate(std::uint64_t bytes) = 0;  // aligned to at least 256 bytes
  virtual void release(void* pointer) noexcept = 0;
  virtual void copy_in(void* device, const void* host, std::uint64_t bytes) = 0;
  virtual void copy_out(void* host, const void* device, std::uint64_t bytes) = 0;
  virtual void synchronize() = 0;
  virtual void* stream() const { return nullptr; }  // what a store call carries
  virtual std::string device() const = 0;           // "host", "NVIDIA H200", ...
  virtual MemoryKind kind() const = 0;
};

std::unique_ptr<Memory> host_memory();

// Throws CannotRun when there is no CUDA device or the build has no CUDA.
std::unique_ptr<Memory> cuda_memory();

// The memory that a plug-in brings.
std::unique_ptr<Memory> own_memory(const kvproof_memory& functions, const std::string& name);

// The memory that a subject's pointers must come from.
std::unique_ptr<Memory> memory_of(const Subject& subject);

// Empty when a CUDA device can be used, else why not.
std::string cuda_absence();

}  // namespace kvproof
