#include "kvproof/device/memory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "kvproof/device/error.h"

namespace kvproof {
namespace {

constexpr std::uint64_t alignment = 256;

class HostMemory final : public Memory {
 public:
  void* allocate(std::uint64_t bytes) override {
    void* pointer = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (pointer == nullptr) {
      throw CannotRun(fmt::format("host memory: {} bytes cannot be had", bytes));
    }
    return pointer;
  }
  void release(void* pointer) noexcept override { std::free(pointer); }
  void copy_in(void* device, const void* host, std::uint64_t bytes) override { copy(device, host, bytes); }
  void copy_out(void* host, const void* device, std::uint64_t bytes) override { copy(host, device, bytes); }
  void synchronize() override {}
  std::string device() const override { return "host"; }
  MemoryKind kind() const override { return MemoryKind::host; }

 private:
  // Nothing may be copied from nowhere: memcpy takes no null pointer, not even for no bytes.
  static void copy(void* to, const void* from, std::uint64_t bytes) {
    if (bytes != 0) {
      std::memcpy(to, from, bytes);
    }
  }
};

class OwnMemory final : public Memory {
 public:
  OwnMemory(const kvproof_memory& functions, std::string name) : functions_(functions), name_(std::move(name)) {}

  void* allocate(std::uint64_t bytes) override {
    void* pointer = nullptr;
    require(functions_.allocate(functions_.state, bytes, &pointer), "allocate");
    if (pointer == nullptr) {
      throw CannotRun(fmt::format("memory of {}: allocate of {} bytes gave null", name_, bytes));
    }
    return pointer;
  }
  void release(void* pointer) noexcept override { functions_.release(functions_.state, pointer); }
  void copy_in(void* device, const void* host, std::uint64_t bytes) override {
    require(functions_.copy_in(functions_.state, device, host, bytes), "copy_in");
  }
  void copy_out(void* host, const void* device, std::uint64_t bytes) override {
    require(functions_.copy_out(functions_.state, host, device, bytes), "copy_out");
  }
  void synchronize() override { require(functions_.synchronize(functions_.state), "synchronize"); }
  std::string device() const override { return fmt::format("own memory of {}", name_); }
  MemoryKind kind() const override { return MemoryKind::own; }

 private:
  void require(std::int32_t status, const char* what) const {
    if (status != 0) {
      throw CannotRun(fmt::format("memory of {}: {} returned {}, expected 0", name_, what, status));
    }
  }

  kvproof_memory functions_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Memory> host_memory() { return std::make_unique<HostMemory>(); }

std::unique_ptr<Memory> own_memory(const kvproof_memory& functions, const std::string& name) {
  return std::make_unique<OwnMemory>(functions, name);
}

std::unique_ptr<Memory> memory_of(const Subject& subject) {
  switch (subject.memory) {
    case MemoryKind::cuda:
      return cuda_memory();
    case MemoryKind::own:
      return own_memory(subject.own_memory, subject.name);
    case MemoryKind::host:
      break;
  }
  return host_memory();
}

}  // namespace kvproof
