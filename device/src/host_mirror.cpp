#include "host_mirror.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace kvproof {
namespace {

constexpr std::int64_t most_lookups = 256;  // pages whose exact address is looked up

// Which addresses of this process have memory behind them.
class PageMap {
 public:
  PageMap() : descriptor_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~PageMap() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  bool present(const std::uint8_t* at) const {
    std::uint64_t entry = 0;
    const auto where =
        static_cast<off_t>(reinterpret_cast<std::uintptr_t>(at) / static_cast<std::uint64_t>(host_page()) * 8);
    return descriptor_ >= 0 && pread(descriptor_, &entry, sizeof entry, where) == sizeof entry && (entry >> 62) != 0;
  }

 private:
  int descriptor_;
};

}  // namespace

HostMirror::HostMirror(std::int64_t bytes, const Poison& poison)
    : size_(round_up(bytes, host_page())), poison_(poison), pages_("guard") {
  pages_.file().resize(size_);
  view_ = AddressSpace(size_);
  pages_.file().map(view_.begin(), 0, size_);
  // What all else rests on: a page that is touched is seen, and an untouched one is not.
  view_.begin()[size_ - 1] = 1;
  std::int64_t first = -1;
  pages_.each(size_, [&](std::int64_t page) { first = first < 0 ? page : first; });
  const bool seen = first == size_ - host_page();
  clear();
  if (!seen || touched()) {
    throw CannotRun("host memory: this system does not tell which pages of a file in memory were touched");
  }
}

void HostMirror::cover(std::uint8_t* from, std::uint8_t* to, const std::uint8_t* anchor) {
  while (from < to) {
    const std::int64_t position = ((from - anchor) % size_ + size_) % size_;
    const std::int64_t piece = std::min(to - from, size_ - position);
    pages_.file().map(from, position, piece);
    from += piece;
  }
}

void HostMirror::changed(const std::uint8_t* from, const std::uint8_t* to, const std::uint8_t* anchor,
                         const std::uint8_t* base, bool before, bool again, FarGuards& far) const {
  const PageMap map;
  std::int64_t lookups = 0;
  pages_.each(size_, [&](std::int64_t page) {
    const bool armed = pages_.armed(page);
    bool located = false;
    bool exact = false;
    std::int64_t at_page = 0;  // the page's offset from the base
    const auto locate = [&] {
      if (std::exchange(located, true)) {
        return;
      }
      // The first address in the guard that the page is seen at.
      const std::int64_t first = ((page - (from - anchor)) % size_ + size_) % size_;
      const std::int64_t last = first + (to - from - 1 - first) / size_ * size_;
      std::int64_t seen_at = 0;
      std::int64_t seen = 0;
      for (std::int64_t i = first; lookups < most_lookups && i < to - from; i += size_) {
        if (map.present(from + i)) {
          ++seen;
          seen_at = i;
        }
      }
      ++lookups;
      exact = seen == 1;
      at_page = (from - base) + (exact ? seen_at : (before ? last : first));
    };
    const auto put = [&](std::int64_t at, std::uint8_t was, std::uint8_t is) {
      locate();
      ++far.changed_bytes;
      if (static_cast<std::int64_t>(far.changed.size()) < FarGuards::kept) {
        far.changed.push_back({at_page + at - page, exact, was, is});
      }
    };
    bool changed = false;
    for (std::int64_t at = page; at < page + host_page(); at += 8) {
      const std::uint64_t expected = armed ? zeroless_word(poison_, at >> 3) : 0;
      std::uint64_t found = 0;
      std::memcpy(&found, view_.begin() + at, sizeof found);
      if (found == expected) {
        continue;
      }
      changed = true;
      for (int byte = 0; byte < 8; ++byte) {
        const auto was = static_cast<std::uint8_t>(expected >> (8 * byte));
        const auto is = static_cast<std::uint8_t>(found >> (8 * byte));
        if (was == is) {
          continue;
        }
        put(at + byte, was, is);
      }
    }
    if (again && !armed && !changed) {
      put(page, 0, 0);  // the first run did not come here: a zero was written, or the page was read
    }
  });
}

}  // namespace kvproof
