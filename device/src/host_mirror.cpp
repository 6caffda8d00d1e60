#include "host_mirror.h"

#include <fcntl.h>

#include <algorithm>
#include <vector>

namespace kvproof {
namespace {

constexpr std::uint64_t no_zeros = 0x0101010101010101ULL;  // set in every byte
constexpr std::int64_t most_lookups = 256;                 // pages whose exact address is looked up

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
    : size_(round_up(bytes, host_page())), poison_(poison), file_("kvproof guard") {
  file_.resize(size_);
  view_ = AddressSpace(size_);
  file_.map(view_.begin(), 0, size_);
  // What all else rests on: a page that is touched is seen, and an untouched one is not.
  view_.begin()[size_ - 1] = 1;
  const bool seen = next_data(0) == size_ - host_page();
  clear();
  if (!seen || touched()) {
    throw CannotRun("host memory: this system does not tell which pages of a file in memory were touched");
  }
}

void HostMirror::cover(std::uint8_t* from, std::uint8_t* to, const std::uint8_t* anchor) {
  while (from < to) {
    const std::int64_t position = ((from - anchor) % size_ + size_) % size_;
    const std::int64_t piece = std::min(to - from, size_ - position);
    file_.map(from, position, piece);
    from += piece;
  }
}

std::int64_t HostMirror::next_data(std::int64_t from) const { return lseek(file_.descriptor(), from, SEEK_DATA); }
std::int64_t HostMirror::next_hole(std::int64_t from) const { return lseek(file_.descriptor(), from, SEEK_HOLE); }

template <class Take>
void HostMirror::each_touched_page(Take take) const {
  for (std::int64_t at = next_data(0); at >= 0;) {
    const std::int64_t end = std::min(size_, next_hole(at));
    for (; at < end; at += host_page()) {
      take(at);
    }
    at = end < size_ ? next_data(end) : -1;
  }
}

void HostMirror::clear() {
  if (fallocate(file_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size_) != 0) {
    fail_system("clearing a guard", size_);
  }
  armed_.clear();
}

void HostMirror::arm() {
  each_touched_page([&](std::int64_t page) {
    for (std::int64_t at = page; at < page + host_page(); at += 8) {
      const std::uint64_t word = poison_word(poison_, at >> 3) | no_zeros;
      std::memcpy(view_.begin() + at, &word, sizeof word);
    }
    armed_.insert(page);
  });
}

void HostMirror::changed(const std::uint8_t* from, const std::uint8_t* to, const std::uint8_t* anchor,
                         const std::uint8_t* base, bool before, FarGuards& far) const {
  const PageMap map;
  std::int64_t lookups = 0;
  each_touched_page([&](std::int64_t page) {
    const bool armed = armed_.contains(page);
    bool located = false;
    bool exact = false;
    std::int64_t at_page = 0;  // the page's offset from the base
    for (std::int64_t at = page; at < page + host_page(); at += 8) {
      const std::uint64_t expected = armed ? poison_word(poison_, at >> 3) | no_zeros : 0;
      std::uint64_t found = 0;
      std::memcpy(&found, view_.begin() + at, sizeof found);
      if (found == expected) {
        continue;
      }
      if (!located) {
        located = true;
        // The first address in the guard that the page is seen at.
        const std::int64_t first = ((page - (from - anchor)) % size_ + size_) % size_;
        const std::int64_t last = first + (to - from - 1 - first) / size_ * size_;
        at_page = (from - base) + (before ? last : first);
        if (lookups++ < most_lookups) {
          std::int64_t seen = 0;
          for (std::int64_t i = first; i < to - from; i += size_) {
            if (map.present(from + i)) {
              ++seen;
              at_page = (from - base) + i;
            }
          }
          exact = seen == 1;
          if (!exact) {
            at_page = (from - base) + (before ? last : first);
          }
        }
      }
      for (int byte = 0; byte < 8; ++byte) {
        const auto was = static_cast<std::uint8_t>(expected >> (8 * byte));
        const auto is = static_cast<std::uint8_t>(found >> (8 * byte));
        if (was == is) {
          continue;
        }
        ++far.changed_bytes;
        if (static_cast<std::int64_t>(far.changed.size()) < FarGuards::kept) {
          far.changed.push_back({at_page + (at - page) + byte, exact, was, is});
        }
      }
    }
  });
}

}  // namespace kvproof
