// A file in memory of which each page is known to be touched or not.
//
// The file begins as one hole. A page of it comes to be when it is touched, so gigabytes that a run leaves alone cost one
// system call. Until then the page reads zero. Zeros that are written there cannot be told from that; therefore touched
// pages hold a poison without zeros under the complementary run of the same case.
#pragma once

#include <algorithm>
#include <set>

#include "kvproof/device/poison.h"
#include "mapping.h"

namespace kvproof {

class TouchedPages {
 public:
  explicit TouchedPages(const char* name) : file_(name) {}

  MemoryFile& file() { return file_; }

  // Whether any page has been touched since the last `clear`.
  bool any() const { return next_data(0) >= 0; }

  // Calls `take(at)` with the offset of each touched page in the first `bytes` of the file.
  template <class Take>
  void each(std::int64_t bytes, Take take) const {
    for (std::int64_t at = next_data(0); at >= 0 && at < bytes;) {
      const std::int64_t end = std::min(bytes, next_hole(at));
      for (; at < end; at += host_page()) {
        take(at);
      }
      at = end < bytes ? next_data(end) : -1;
    }
  }

  // All pages untouched again, of a file of `bytes`.
  void clear(std::int64_t bytes);

  // Touched pages get their poison. The file is seen at `view`; its first byte has the offset `origin` in the poison.
  void arm(std::uint8_t* view, std::int64_t bytes, const Poison& poison, std::int64_t origin);

  bool armed(std::int64_t page) const { return armed_.contains(page); }

 private:
  std::int64_t next_data(std::int64_t from) const;
  std::int64_t next_hole(std::int64_t from) const;

  MemoryFile file_;
  std::set<std::int64_t> armed_;  // pages that hold poison
};

}  // namespace kvproof
