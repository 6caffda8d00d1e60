#include "touched_pages.h"

#include <fcntl.h>

namespace kvproof {

namespace {

// -1 where there is none. A file that cannot be asked, because a kernel has closed its descriptor, must not look untouched.
std::int64_t seek(const MemoryFile& file, std::int64_t from, int what) {
  const std::int64_t at = lseek(file.descriptor(), from, what);
  if (at < 0 && errno != ENXIO) {
    fail_system("looking for touched pages from an offset", from);
  }
  return at;
}

}  // namespace

std::int64_t TouchedPages::next_data(std::int64_t from) const { return seek(file_, from, SEEK_DATA); }
std::int64_t TouchedPages::next_hole(std::int64_t from) const { return seek(file_, from, SEEK_HOLE); }

void TouchedPages::clear(std::int64_t bytes) {
  if (fallocate(file_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, bytes) != 0) {
    fail_system("clearing a file in memory", bytes);
  }
  armed_.clear();
}

void TouchedPages::arm(std::uint8_t* view, std::int64_t bytes, const Poison& poison, std::int64_t origin) {
  each(bytes, [&](std::int64_t page) {
    for (std::int64_t at = page; at < page + host_page(); at += 8) {
      const std::uint64_t word = zeroless_word(poison, (at + origin) >> 3);
      std::memcpy(view + at, &word, sizeof word);
    }
    armed_.insert(page);
  });
}

}  // namespace kvproof
