// A CUDA device: [ mirror | guard, pool, guard | mirror ] in one range of addresses, each mirror one allocation that is
// mapped again and again; nothing is mapped beyond.
#include "ground.h"
#include "kvproof/device/error.h"

#if defined(KVPROOF_HAS_CUDA)
#include <algorithm>
#include <bit>
#include <optional>

#include "cuda_addresses.h"
#include "cuda_status.h"
#include "fill_poison.h"
#include "kvproof/device/cuda_poison.h"
#endif

namespace kvproof {

#if defined(KVPROOF_HAS_CUDA)
namespace {

constexpr std::int64_t wanted_mirror = std::int64_t{16} << 20;
constexpr std::int64_t near_guard = 64 * 1024;  // the pool's own memory on both sides
constexpr std::int64_t smallest_capacity = std::int64_t{16} << 20;
constexpr std::int64_t large = std::int64_t{1} << 30;  // from here on memory is not kept for what may come

std::int64_t multiple(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

// Device memory that lives as long as it is mapped, or this does.
class Allocation {
 public:
  Allocation(const CudaAddresses& addresses, std::int64_t bytes) : addresses_(addresses), memory_(addresses.create(bytes)) {}
  ~Allocation() { addresses_.release(memory_); }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  CUmemGenericAllocationHandle memory() const { return memory_; }

 private:
  const CudaAddresses& addresses_;
  CUmemGenericAllocationHandle memory_;
};

std::uint8_t* pointer(CUdeviceptr at) { return reinterpret_cast<std::uint8_t*>(static_cast<std::uintptr_t>(at)); }

// Input or indices: a room between addresses that nothing is mapped to.
struct Room {
  std::optional<CudaRange> range;
  std::uint8_t* begin = nullptr;
  std::int64_t bytes = 0;
};

class CudaGround final : public Ground {
 public:
  CudaGround(Memory& memory, std::int64_t reach)
      : memory_(memory),
        addresses_(current_device()),
        mirror_(multiple(wanted_mirror, addresses_.granularity())),
        reach_(multiple(reach, mirror_)),
        before_(addresses_, mirror_),
        after_(addresses_, mirror_) {
    reserve(smallest_capacity);
  }

  GuardedSpan pool(const StoreShape& shape, const Poison& poison) override {
    const std::int64_t size = shape.pool_bytes();
    const std::int64_t needed = near_guard + size + near_guard;
    if (needed > capacity_ || (capacity_ > large && needed < capacity_ / 4)) {
      reserve(needed <= large ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed))) : needed);
    }
    const GuardedSpan region{start_ + near_guard, size, near_guard, capacity_ - near_guard - size};
    fill_poison_on_cuda(pool_poison(poison), -near_guard, region.begin(), region.all(), memory_.stream());
    const std::int64_t modulo = reach_ == mirror_ ? 0 : mirror_;
    mirrors_ = {MirrorSpan{start_ - mirror_, mirror_, -near_guard - mirror_, modulo, mirror_poison(poison, false)},
                MirrorSpan{start_ + capacity_, mirror_, capacity_ - near_guard, modulo, mirror_poison(poison, true)}};
    for (const MirrorSpan& mirror : mirrors_) {
      fill_poison_on_cuda(mirror.poison, 0, const_cast<std::uint8_t*>(mirror.bytes), mirror.size, memory_.stream());
    }
    return region;
  }

  GuardedSpan given(Given which, std::span<const std::uint8_t> bytes, const Poison& poison, Placement placement) override {
    Room& room = rooms_[which == Given::input ? 0 : 1];
    const auto size = static_cast<std::int64_t>(bytes.size());
    make_room(room, given_room(size, placement));
    const GuardedSpan region = place_given(room.begin, room.bytes, size, placement);
    if (size != 0) {
      memory_.copy_in(region.data, bytes.data(), bytes.size());
    }
    fill_poison_on_cuda(poison, -region.before, region.begin(), region.before, memory_.stream());
    fill_poison_on_cuda(poison, region.size, region.data + region.size, region.after, memory_.stream());
    return region;
  }

  void collect(const GuardedSpan& region, GuardedBytes& bytes) override {
    bytes.before = region.before;
    bytes.after = region.after;
    bytes.bytes.resize(static_cast<std::size_t>(region.all()));
    if (region.all() != 0) {
      memory_.copy_out(bytes.bytes.data(), region.begin(), bytes.bytes.size());
    }
  }

  FarGuards far() override {
    FarGuards far;
    far.mirror = mirror_;
    std::vector<std::uint8_t> found(static_cast<std::size_t>(mirror_));
    std::vector<std::uint8_t> expected(found.size());
    for (const MirrorSpan& mirror : mirrors_) {
      memory_.copy_out(found.data(), mirror.bytes, found.size());
      fill_poison(mirror.poison, 0, expected.data(), mirror.size);
      if (found == expected) {
        continue;
      }
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] == expected[i]) {
          continue;
        }
        ++far.changed_bytes;
        if (static_cast<std::int64_t>(far.changed.size()) < FarGuards::kept) {
          far.changed.push_back({mirror.offset + static_cast<std::int64_t>(i), mirror.modulo == 0, expected[i], found[i]});
        }
      }
    }
    return far;
  }

  std::int64_t reach() const override { return reach_; }
  std::optional<std::array<MirrorSpan, 2>> mirrors() const override { return mirrors_; }

 private:
  static int current_device() {
    int device = 0;
    require_cuda(cudaGetDevice(&device), "cudaGetDevice");
    require_cuda(cudaFree(nullptr), "starting the device");  // the driver's functions want a context
    return device;
  }

  // The range, with `capacity` bytes for the pool and its near guards.
  void reserve(std::int64_t capacity) {
    range_.reset();
    capacity_ = 0;
    capacity = multiple(capacity, addresses_.granularity());
    const std::int64_t apart = addresses_.granularity();  // nothing is mapped there
    const Allocation pages(addresses_, capacity);
    range_.emplace(addresses_, apart + reach_ + capacity + reach_ + apart);
    CUdeviceptr at = range_->begin() + static_cast<CUdeviceptr>(apart);
    const auto append = [&](std::int64_t bytes, const Allocation& memory) {
      range_->append(at, bytes, memory.memory());
      at += static_cast<CUdeviceptr>(bytes);
    };
    for (std::int64_t covered = 0; covered < reach_; covered += mirror_) {
      append(mirror_, before_);
    }
    start_ = pointer(at);
    append(capacity, pages);
    for (std::int64_t covered = 0; covered < reach_; covered += mirror_) {
      append(mirror_, after_);
    }
    range_->open();
    capacity_ = capacity;
  }

  void make_room(Room& room, std::int64_t bytes) {
    if (room.bytes >= bytes) {
      return;
    }
    room.range.reset();
    room.bytes = 0;
    const std::int64_t wanted =
        multiple(bytes <= large ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes))) : bytes,
                 addresses_.granularity());
    const Allocation pages(addresses_, wanted);
    std::int64_t apart = multiple(wide_margin, addresses_.granularity());
    try {
      room.range.emplace(addresses_, apart + wanted + apart);
    } catch (const CannotRun&) {  // addresses are few
      apart = addresses_.granularity();
      room.range.emplace(addresses_, apart + wanted + apart);
    }
    const CUdeviceptr at = room.range->begin() + static_cast<CUdeviceptr>(apart);
    room.range->append(at, wanted, pages.memory());
    room.range->open();
    room.begin = pointer(at);
    room.bytes = wanted;
  }

  Memory& memory_;
  CudaAddresses addresses_;
  std::int64_t mirror_;
  std::int64_t reach_;
  Allocation before_;
  Allocation after_;
  std::optional<CudaRange> range_;
  std::uint8_t* start_ = nullptr;  // of the pool's own memory
  std::int64_t capacity_ = 0;      // of the pool's own memory
  std::array<MirrorSpan, 2> mirrors_{};
  Room rooms_[2];
};

}  // namespace

std::unique_ptr<Ground> cuda_ground(Memory& memory, std::int64_t reach) {
  return std::make_unique<CudaGround>(memory, reach);
}

#else

std::unique_ptr<Ground> cuda_ground(Memory&, std::int64_t) { throw CannotRun("this build has no CUDA"); }

#endif

}  // namespace kvproof
