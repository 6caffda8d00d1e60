// The host: [ mirror | guard, pool, guard | mirror ] in one range of addresses, inaccessible beyond. A small pool is filled
// and copied; of a large one, and the guards beside it, only what a kernel touches comes to be.
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
constexpr std::int64_t idle_touches = std::int64_t{256} << 20;    // of a sparse pool, beyond what its tokens can explain

// Input or indices: a room between addresses that nobody can touch.
class Room {
 public:
  GuardedSpan place(std::span<const std::uint8_t> bytes, const Poison& poison, Placement placement) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (const std::int64_t needed = given_room(size, placement); inner_ < needed) {
      const std::int64_t inner =
          round_up(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed))), host_page());
      Apart room = set_apart(inner, wide_margin);
      if (mprotect(room.inner, static_cast<std::size_t>(inner), PROT_READ | PROT_WRITE) != 0) {
        fail_system("opening a room", inner);
      }
      room_ = std::move(room);
      inner_ = inner;
    }
    const GuardedSpan region = place_given(room_.inner, inner_, size, placement);
    fill_guards(poison, region);
    std::copy(bytes.begin(), bytes.end(), region.data);
    return region;
  }

 private:
  Apart room_;
  std::int64_t inner_ = 0;
};

class HostGround final : public Ground {
 public:
  HostGround(std::int64_t reach, std::int64_t largest_dense)
      : reach_(round_up(reach, mirror_bytes)),
        largest_dense_(largest_dense),
        before_(mirror_bytes, mirror_poison({}, false)),
        after_(mirror_bytes, mirror_poison({}, true)),
        pages_("pool") {
    reserve(smallest_space);
  }

  GuardedSpan pool(const StoreShape& shape, const Poison& poison) override {
    size_ = shape.pool_bytes();
    const std::int64_t length = round_up(near_guard + size_ + near_guard, host_page());
    again_ = poison.complement && poison.seed == seed_;
    const bool same_pool = again_ && sparse_ && length == length_;
    seed_ = poison.seed;
    sparse_ = size_ > largest_dense_;
    resize(length);
    for (HostMirror* mirror : {&before_, &after_}) {
      if (mirror->touched()) {
        again_ ? mirror->arm() : mirror->clear();
      }
    }
    const GuardedSpan region{base(), size_, near_guard, length_ - near_guard - size_};
    if (!sparse_) {
      fill_poison(pool_poison(poison), -near_guard, region.begin(), region.all());
    } else if (same_pool) {
      pages_.arm(start_, length_, pool_poison(poison), -near_guard);
    } else {
      pages_.clear(file_bytes_);
    }
    // A row may begin and end in the middle of a page of memory, in both planes.
    most_touched_ = idle_touches + shape.tokens * 4 * host_page();
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

  std::optional<SparsePool> sparse_pool() override {
    if (!sparse_) {
      return std::nullopt;
    }
    SparsePool pool;
    pool.size = size_;
    pool.before = near_guard;
    pool.after = length_ - near_guard - size_;
    pool.page_bytes = host_page();
    pages_.each(length_, [&](std::int64_t page) {
      pool.overrun = static_cast<std::int64_t>(pool.touched.size()) * host_page() >= most_touched_;
      if (pool.overrun) {
        return;
      }
      pool.touched.push_back({page - near_guard, pages_.armed(page), {start_ + page, start_ + page + host_page()}});
    });
    return pool;
  }

  FarGuards far() override {
    FarGuards far;
    far.mirror = mirror_bytes;
    if (before_.touched() || after_.touched()) {
      before_.changed(start_ - reach_, start_, start_ - reach_, base(), true, again_, far);
      after_.changed(start_ + length_, start_ + space_ + reach_, start_, base(), false, again_, far);
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
    range_.space.release();
    space_ = 0;
    length_ = 0;
    range_ = set_apart(reach_ + space + reach_, wide_margin);
    start_ = range_.inner + reach_;
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
        pages_.file().resize(length);
        file_bytes_ = length;
      }
      const bool populate = !sparse_ && length - length_ <= kept_memory;
      pages_.file().map(start_ + length_, length_, length - length_, populate ? MAP_POPULATE : 0);
    } else if (length < length_) {
      after_.cover(start_ + length, start_ + length_, start_);
      if (file_bytes_ > length + kept_memory) {
        pages_.file().resize(length);
        file_bytes_ = length;
      }
    }
    length_ = length;
  }

  std::int64_t reach_;
  std::int64_t largest_dense_;
  HostMirror before_;
  HostMirror after_;
  TouchedPages pages_;
  Apart range_;
  std::uint8_t* start_ = nullptr;  // of the pool's own pages
  std::int64_t space_ = 0;         // addresses from there to where the far guard reaches its full length
  std::int64_t length_ = 0;        // of the pool's own pages
  std::int64_t file_bytes_ = 0;
  std::int64_t size_ = 0;
  bool sparse_ = false;
  bool again_ = false;             // this run is the second of one case
  std::int64_t most_touched_ = 0;  // bytes of a sparse pool's pages
  std::uint64_t seed_ = 0;
  Room input_;
  Room indices_;
};

}  // namespace

std::unique_ptr<Ground> host_ground(std::int64_t reach, std::int64_t largest_dense) {
  return std::make_unique<HostGround>(reach, largest_dense);
}

}  // namespace kvproof
