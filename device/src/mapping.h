// Address ranges and files in memory, of the host, each given back by its owner.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "kvproof/device/error.h"

namespace kvproof {

inline std::int64_t round_up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

inline std::int64_t host_page() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

[[noreturn]] inline void fail_system(const char* what, std::int64_t bytes) {
  throw CannotRun(fmt::format("host memory: {} of {} bytes failed: {}", what, bytes, std::strerror(errno)));
}

// Addresses that nobody else gets, inaccessible at first.
class AddressSpace {
 public:
  AddressSpace() = default;
  explicit AddressSpace(std::int64_t bytes) : bytes_(bytes) {
    void* at = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
      fail_system("reserving addresses", bytes);
    }
    begin_ = static_cast<std::uint8_t*>(at);
  }
  ~AddressSpace() { release(); }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  AddressSpace(AddressSpace&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  AddressSpace& operator=(AddressSpace&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  void release() {
    if (begin_ != nullptr) {
      munmap(begin_, static_cast<std::size_t>(bytes_));
      begin_ = nullptr;
      bytes_ = 0;
    }
  }

  std::uint8_t* begin() const { return begin_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::uint8_t* begin_ = nullptr;
  std::int64_t bytes_ = 0;
};

// Addresses for `inner` bytes, inaccessible at first, between margins that stay so.
struct Apart {
  AddressSpace space;
  std::uint8_t* inner = nullptr;
};

// Where addresses are few, the margins are a page.
inline Apart set_apart(std::int64_t inner, std::int64_t margin) {
  const auto with_margin = [&](std::int64_t bytes) {
    AddressSpace space(bytes + inner + bytes);
    std::uint8_t* const begin = space.begin() + bytes;
    return Apart{std::move(space), begin};
  };
  try {
    return with_margin(margin);
  } catch (const CannotRun&) {
    return with_margin(host_page());
  }
}

// The names of files in memory that are kvproof's own begin so.
inline constexpr std::string_view own_files = "kvproof ";

// A file that exists in memory only; pages never touched take none.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name)
      : descriptor_(memfd_create(std::string(own_files).append(name).c_str(), MFD_CLOEXEC)) {
    if (descriptor_ < 0) {
      fail_system("memfd_create", 0);
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void resize(std::int64_t bytes) {
    if (ftruncate(descriptor_, bytes) != 0) {
      fail_system("sizing a file in memory", bytes);
    }
  }

  // Puts `bytes` of the file from `offset` on at an address that the caller owns.
  void map(std::uint8_t* at, std::int64_t offset, std::int64_t bytes, int flags = 0) const {
    if (mmap(at, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE | flags,
             descriptor_, offset) == MAP_FAILED) {
      fail_system("mapping", bytes);
    }
  }

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace kvproof
