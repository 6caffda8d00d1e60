// What guards look like after a run: a buffer with the guards beside it, and the far guards that are mirrors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kvproof/device/poison.h"

namespace kvproof {

// Where input and indices lie in their own memory. Before the one and behind the other is memory that nobody can read: an
// over-read of a single byte faults, in one of the two placements at each end.
enum class Placement : std::uint32_t {
  end_flush,    // the end is at the edge; the start stays aligned to 16 bytes, so that up to 15 bytes of guard may follow
  start_flush,  // the start is at the edge
  // No edge where the flush one has it, to tell what faulted there: an over-read finds poison. The other side is no looser.
  end_loose,
  start_loose
};

// What a kernel is given to read.
enum class Given : std::uint32_t { input, indices };

// One buffer that lies loose, at one end: in runs of that placement.
struct Loosened {
  Given which = Given::input;
  Placement flush = Placement::end_flush;
};

// A buffer with the guards beside it, copied to the host. Offsets count from the buffer's first byte: those of the guard
// before it are negative.
struct GuardedBytes {
  std::int64_t before = 0;          // bytes of the guard before the buffer
  std::int64_t after = 0;           // and of the one after it
  std::vector<std::uint8_t> bytes;  // guard, buffer, guard

  std::int64_t size() const { return static_cast<std::int64_t>(bytes.size()) - before - after; }
  const std::uint8_t* data() const { return bytes.data() + before; }
};

// A page of memory that a run has touched, copied to the host.
struct TouchedPage {
  std::int64_t offset = 0;  // of its first byte, from the pool's base
  bool armed = false;       // before the run it held poison without zeros; else it held zeros
  std::vector<std::uint8_t> bytes;
};

// A pool too large to be filled and copied, with the guards beside it, known by the pages of memory that a run has touched.
// All others are known to be untouched. They read zero; so zeros written to a page that comes to be by it look like nothing,
// and under the complementary run of the same case all pages that the first one touched are armed.
struct SparsePool {
  std::int64_t size = 0;
  std::int64_t before = 0;  // bytes of the guard before the pool; a page of memory begins there
  std::int64_t after = 0;   // and of the one after it
  std::int64_t page_bytes = 0;
  std::vector<TouchedPage> touched;  // in order of offset
  bool overrun = false;              // far more was touched than the call can explain: the list is cut

  // The first touched page that ends beyond `offset`, and the end of all of them.
  const TouchedPage* first_page(std::int64_t offset) const {
    return std::partition_point(touched.data(), end(),
                                [&](const TouchedPage& page) { return page.offset + page_bytes <= offset; });
  }
  const TouchedPage* end() const { return touched.data() + touched.size(); }

  // The touched page that a byte lies in, or null.
  const TouchedPage* page_at(std::int64_t offset) const {
    const TouchedPage* page = first_page(offset);
    return page != end() && page->offset <= offset ? page : nullptr;
  }

  // Copies bytes of the pool or of its guards; says whether all of them lie in touched pages. Others read zero.
  bool copy(std::int64_t offset, std::int64_t count, std::uint8_t* to) const {
    bool all = true;
    for (const std::int64_t stop = offset + count; offset < stop;) {
      const std::int64_t piece = std::min(stop, page_end(offset)) - offset;
      if (const TouchedPage* page = page_at(offset)) {
        std::copy_n(page->bytes.data() + (offset - page->offset), piece, to);
      } else {
        std::fill_n(to, piece, std::uint8_t{0});
        all = false;
      }
      offset += piece;
      to += piece;
    }
    return all;
  }

  // Where the page of memory ends that a byte lies in, touched or not.
  std::int64_t page_end(std::int64_t offset) const { return offset + page_bytes - (offset + before) % page_bytes; }

  std::uint8_t byte(std::int64_t offset) const {
    const TouchedPage* page = page_at(offset);
    return page == nullptr ? std::uint8_t{0} : page->bytes[static_cast<std::size_t>(offset - page->offset)];
  }

  // The eight bytes at 8 * word as they were before the run.
  static std::uint64_t word_before(const TouchedPage& page, const Poison& poison, std::int64_t word) {
    return page.armed ? zeroless_word(poison, word) : 0;
  }

  std::uint8_t byte_before(const Poison& poison, std::int64_t offset) const {
    const TouchedPage* page = page_at(offset);
    return page == nullptr ? std::uint8_t{0}
                           : static_cast<std::uint8_t>(word_before(*page, poison, offset >> 3) >> (8 * (offset & 7)));
  }
};

// A byte of a far guard that has changed; or, where found is what was expected, that was read or written with what it was.
struct FarByte {
  std::int64_t offset = 0;  // from the pool's base; the nearest one possible where it is not exact
  bool exact = false;       // else it is known modulo the mirror only
  std::uint8_t expected = 0;
  std::uint8_t found = 0;
};

// The guards that reach gigabytes to both sides of a pool. Each side is one mirror, mapped again and again.
struct FarGuards {
  static constexpr std::int64_t kept = 65536;

  std::int64_t mirror = 0;       // bytes of one mirror; 0 where there are none
  std::vector<FarByte> changed;  // the first `kept`, in order of offset
  std::int64_t changed_bytes = 0;
};

// A buffer in place, with the bytes beside it that are known before a run and checked after it.
struct GuardedSpan {
  std::uint8_t* data = nullptr;
  std::int64_t size = 0;
  std::int64_t before = 0;
  std::int64_t after = 0;

  std::uint8_t* begin() const { return data - before; }
  std::int64_t all() const { return before + size + after; }
};

// One mirror of a far guard in place: filled with its own poison, keyed to the position in the mirror.
struct MirrorSpan {
  const std::uint8_t* bytes = nullptr;
  std::int64_t size = 0;
  std::int64_t offset = 0;  // of its first byte from the pool's base, in the copy that is nearest to the pool
  std::int64_t modulo = 0;  // what an offset is known modulo; 0 where the guard is one mirror
  Poison poison;
};

// Everything a run has left on a device, for a judge that runs there. Valid until the arena's next run.
struct OnDevice {
  GuardedSpan pool;
  GuardedSpan input;
  GuardedSpan indices;
  std::array<MirrorSpan, 2> mirrors;  // before the pool, after it
  void* stream = nullptr;
};

}  // namespace kvproof
