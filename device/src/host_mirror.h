// One far guard of the host: a small file in memory that is mapped again and again, so that a stray write of any distance
// lands in it and kills nothing. A run that strays nowhere costs one system call, however far the guard reaches.
#pragma once

#include "kvproof/device/guarded.h"
#include "touched_pages.h"

namespace kvproof {

class HostMirror {
 public:
  HostMirror(std::int64_t bytes, const Poison& poison);

  // Covers [from, to); the byte at `anchor` + n * size is the mirror's first.
  void cover(std::uint8_t* from, std::uint8_t* to, const std::uint8_t* anchor);

  // Whether any page has been touched since the last `clear`.
  bool touched() const { return pages_.any(); }

  // All pages untouched again.
  void clear() { pages_.clear(size_); }
  // Touched pages get their poison.
  void arm() { pages_.arm(view_.begin(), size_, poison_, 0); }

  // Appends the bytes that have changed, at their offsets from `base`. The guard now covers [from, to). `again`: the case
  // has run before and what it touched was armed; a page touched only now counts by its first byte, though it reads zero.
  void changed(const std::uint8_t* from, const std::uint8_t* to, const std::uint8_t* anchor, const std::uint8_t* base,
               bool before, bool again, FarGuards& far) const;

  std::int64_t size() const { return size_; }

 private:
  std::int64_t size_;
  Poison poison_;
  TouchedPages pages_;
  AddressSpace view_;
};

}  // namespace kvproof
