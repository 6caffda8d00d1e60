// The host: [ mirror | guard, pool, guard | mirror ] in one range of addresses, inaccessible beyond.
#include <algorithm>
#include <bit>
#include <optional>

#include "fill_poison.h"
#include "ground.h"
#include "host_mirror.h"

namespace kvproof {
namespace {

constexpr std::int64_t mirror_bytes = std::int64_t{64} << 20;
constexpr std::int64_t near_guard = 16 * 1024;                    // the pool's own pages on both sides: distances are exact
constexpr std::int64_t smallest_space = std::int64_t{256} << 20;  // addresses for the pool
constexpr std::int64_t kept_memory = std::int64_t{64} << 20;      // of a larger pool, once it is gone

// Input or indices: a room between two pages that nobody can touch.
class Room {
 public:
  GuardedSpan place(std::span<const std::uint8_t> bytes, const Poison& poison, Placement placement) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (inner_ < given_room(size)) {
      const std::int64_t inner =
          round_up(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(given_room(size)))), host_page());
      AddressSpace space(inner + 2 * host_page());
      if (mprotect(space.begin() + host_page(), static_cast<std::size_t>(inner), PROT_READ | PROT_WRITE) != 0) {
        fail_system("opening a room", inner);
      }
      space_ = std::move(space);
      inner_ = inner;
    }
    const GuardedSpan region = place_given(space_.begin() + host_page(), inner_, size, placement);
    fill_guards(poison, region);
    std::copy(bytes.begin(), bytes.end(), region.data);
    return region;
  }

 private:
  AddressSpace space_;
  std::int64_t inner_ = 0;
};

class HostGround final : public Ground {
 public:
  explicit HostGround(std::int64_t reach)
      : reach_(round_up(reach, mirror_bytes)),
        before_(mirror_bytes, mirror_poison({}, false)),
        after_(mirror_bytes, mirror_poison({}, true)),
        pages_("kvproof pool") {
    reserve(smallest_space);
  }

  GuardedSpan pool(const StoreShape& shape, const Poison& poison) override {
    size_ = shape.pool_bytes();
    resize(round_up(near_guard + size_ + near_guard, host_page()));
    const bool same_case = poison.complement && poison.seed == seed_;
    seed_ = poison.seed;
    for (HostMirror* mirror : {&before_, &after_}) {
      if (mirror->touched()) {
        same_case ? mirror->arm() : mirror->clear();
      }
    }
    const GuardedSpan region{base(), size_, near_guard, length_ - near_guard - size_};
    fill_poison(pool_poison(poison), -near_guard, region.begin(), region.all());
    return region;
  }

  GuardedSpan given(Given which, std::span<const std::uint8_t> bytes, const Poison& poison, Placement placement) override {
    return (which == Given::input ? input_ : indices_).place(bytes, poison, placement);
  }

  void collect(const GuardedSpan& region, GuardedBytes& bytes) override {
    bytes.before = region.before;
    bytes.after = region.after;
    bytes.bytes.assign(region.begin(), region.begin() + region.all());
  }

  FarGuards far() override {
    FarGuards far;
    far.mirror = mirror_bytes;
    if (before_.touched() || after_.touched()) {
      before_.changed(start_ - reach_, start_, start_ - reach_, base(), true, far);
      after_.changed(start_ + length_, start_ + space_ + reach_, start_, base(), false, far);
      std::sort(far.changed.begin(), far.changed.end(),
                [](const FarByte& a, const FarByte& b) { return a.offset < b.offset; });
    }
    return far;
  }

  std::int64_t reach() const override { return reach_; }

 private:
  std::uint8_t* base() const { return start_ + near_guard; }

  // Addresses for a pool of `space` bytes and its guards, all of it guard at first.
  void reserve(std::int64_t space) {
    range_.release();
    space_ = 0;
    length_ = 0;
    range_ = AddressSpace(2 * reach_ + space + 2 * host_page());
    start_ = range_.begin() + host_page() + reach_;
    before_.cover(start_ - reach_, start_, start_ - reach_);
    after_.cover(start_, start_ + space + reach_, start_);
    space_ = space;
  }

  // The pool and its near guards take `length` bytes; what was theirs beyond is guard again.
  void resize(std::int64_t length) {
    if (length > space_) {
      reserve(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length))));
    }
    if (length > length_) {
      if (length > file_bytes_) {
        pages_.resize(length);
        file_bytes_ = length;
      }
      pages_.map(start_ + length_, length_, length - length_, length - length_ <= kept_memory ? MAP_POPULATE : 0);
    } else if (length < length_) {
      after_.cover(start_ + length, start_ + length_, start_);
      if (file_bytes_ > length + kept_memory) {
        pages_.resize(length);
        file_bytes_ = length;
      }
    }
    length_ = length;
  }

  std::int64_t reach_;
  HostMirror before_;
  HostMirror after_;
  MemoryFile pages_;
  AddressSpace range_;
  std::uint8_t* start_ = nullptr;  // of the pool's own pages
  std::int64_t space_ = 0;         // addresses from there to where the far guard reaches its full length
  std::int64_t length_ = 0;        // of the pool's own pages
  std::int64_t file_bytes_ = 0;
  std::int64_t size_ = 0;
  std::uint64_t seed_ = 0;
  Room input_;
  Room indices_;
};

}  // namespace

std::unique_ptr<Ground> host_ground(std::int64_t reach) { return std::make_unique<HostGround>(reach); }

}  // namespace kvproof
