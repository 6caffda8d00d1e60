// One far guard of the host: a small file in memory that is mapped again and again, so that a stray write of any distance
// lands in it and kills nothing.
//
// The file begins as one hole. A page of it comes to be when it is touched, so a run that strays nowhere costs one system
// call, however far the guard reaches. Until then the page reads zero. Zeros that are written there cannot be told from
// that; therefore touched pages hold a poison without zeros under the complementary run of the same case.
#pragma once

#include <set>
#include <vector>

#include "kvproof/device/guarded.h"
#include "mapping.h"

namespace kvproof {

class HostMirror {
 public:
  HostMirror(std::int64_t bytes, const Poison& poison);

  // Covers [from, to); the byte at `anchor` + n * size is the mirror's first.
  void cover(std::uint8_t* from, std::uint8_t* to, const std::uint8_t* anchor);

  // Whether any page has been touched since the last `clear`.
  bool touched() const { return next_data(0) >= 0; }

  // All pages untouched again.
  void clear();
  // Touched pages get their poison.
  void arm();

  // Appends the bytes that have changed, at their offsets from `base`. The guard now covers [from, to).
  void changed(const std::uint8_t* from, const std::uint8_t* to, const std::uint8_t* anchor, const std::uint8_t* base,
               bool before, FarGuards& far) const;

  std::int64_t size() const { return size_; }

 private:
  std::int64_t next_data(std::int64_t from) const;
  std::int64_t next_hole(std::int64_t from) const;
  template <class Take>
  void each_touched_page(Take take) const;

  std::int64_t size_;
  Poison poison_;
  MemoryFile file_;
  AddressSpace view_;
  std::set<std::int64_t> armed_;  // pages that hold poison
};

}  // namespace kvproof
