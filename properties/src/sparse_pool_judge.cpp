#include "sparse_pool_judge.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kvproof/reference/layout.h"

namespace kvproof {
namespace {

// One plane of a slot as the run left it.
struct Plane {
  std::int64_t offset;  // from the pool's base
  int count;
  bool touched;  // all of it
  std::array<std::uint8_t, sizeof(RowImage)> found;
};

class SparseJudge {
 public:
  SparseJudge(const SparsePool& pool, const Poison& poison, Findings& findings)
      : pool_(pool), poison_(poison), findings_(findings) {}

  void pool(const Expectation& expected) {
    const ExpectationView view = expected.view(poison_);
    std::int64_t at = 0;
    for (const Piece& piece : pieces_of(expected, view)) {
      unowned(Area::pool, at, piece.offset);
      at = piece.offset + piece.count;
      counts_.bytes += piece.count;
      this->piece(expected, view, piece);
    }
    unowned(Area::pool, at, pool_.size);
  }

  void unchanged_pool() { unowned(Area::pool, 0, pool_.size); }

  void guards() {
    unowned(Area::guard_before_pool, -pool_.before, 0);
    unowned(Area::guard_after_pool, pool_.size, pool_.size + pool_.after);
  }

  const SparseCounts& counts() const { return counts_; }

 private:
  // What a slot's owners write into one of its planes.
  struct Piece {
    std::int64_t offset;
    int count;
    bool scales;
    OwnedSlot owned;
  };

  std::vector<Piece> pieces_of(const Expectation& expected, const ExpectationView& view) {
    const StoreShape& s = expected.shape;
    const LayoutShape layout = layout_shape(s.layout);
    const int scale_bytes = layout.scale_bytes - (view.pad_written ? 0 : layout.pad);
    std::vector<Piece> pieces;
    pieces.reserve(2 * expected.owned.size());
    expected.each_owned([&](std::int64_t slot, std::int32_t head) {
      const std::int64_t base = slot / s.page_size * s.page_stride;
      pieces.push_back({base + data_offset(s.layout, slot % s.page_size), layout.data_bytes, false, {slot, head}});
      pieces.push_back({base + scale_offset(s.layout, slot % s.page_size, s.page_size), scale_bytes, true, {slot, head}});
      counts_.codes += layout.codes;
    });
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
    return pieces;
  }

  // Bytes [from, to) that nobody may have changed.
  void unowned(Area area, std::int64_t from, std::int64_t to) {
    for (const TouchedPage* page = pool_.first_page(from); page != pool_.end() && page->offset < to; ++page) {
      const std::int64_t begin = std::max(from, page->offset);
      const std::int64_t end = std::min(to, page->offset + pool_.page_bytes);
      counts_.bytes += end - begin;
      for (std::int64_t word = begin >> 3; word * 8 < end; ++word) {
        const std::uint64_t before = SparsePool::word_before(*page, poison_, word);
        const std::uint64_t found = load_word(page->bytes.data() + (word * 8 - page->offset));
        if (found != before) {
          judge_unowned_word(before, area, word, begin, end, found, findings_);
        }
      }
    }
  }

  void piece(const Expectation& expected, const ExpectationView& view, const Piece& piece) {
    const std::int32_t head = piece.owned.head;
    if (view.next[head] == nobody) {
      owned(plane(piece.offset, piece.count), head, piece.scales ? view.scales_of(head) : view.data_of(head));
    } else if (!piece.scales) {
      contended(expected, view, piece.owned);  // both planes at once
    }
  }

  Plane plane(std::int64_t offset, int count) const {
    Plane plane{offset, count, false, {}};
    plane.touched = pool_.copy(offset, count, plane.found.data());
    return plane;
  }

  // A byte of an untouched page was not written, even if it should be the zero that is read there.
  void owned(const Plane& plane, std::int32_t token, const std::uint8_t* image) {
    if (plane.touched && std::memcmp(plane.found.data(), image, static_cast<std::size_t>(plane.count)) == 0) {
      return;
    }
    for (int i = 0; i < plane.count; ++i) {
      const std::uint8_t found = plane.found[static_cast<std::size_t>(i)];
      const bool untouched = pool_.page_at(plane.offset + i) == nullptr;
      if (untouched || found != image[i]) {
        findings_.put(findings_.room(1), {plane.offset + i, token, 1, Area::pool, image[i], found, 0, untouched});
      }
    }
  }

  void contended(const Expectation& expected, const ExpectationView& view, const OwnedSlot& owned) {
    const StoreShape& s = expected.shape;
    const LayoutShape layout = layout_shape(s.layout);
    const std::int64_t page = owned.slot / s.page_size;
    const std::int64_t slot = owned.slot % s.page_size;
    const std::int64_t base = page * s.page_stride;
    const Plane data = plane(base + data_offset(s.layout, slot), layout.data_bytes);
    const Plane scales = plane(base + scale_offset(s.layout, slot, s.page_size), layout.scale_bytes);
    const ContendedSlot contended(view, owned.head, page, slot, data.found.data(), scales.found.data());
    for (int number = 0; number < units_of(view); ++number) {
      contended.judge(expected.duplicates, number, Touched{*this});
      const Unit unit = unit_of(view, number);
      if ((unit.scales ? scales : data).touched) {
        continue;
      }
      const std::int32_t token = contended.compared_with(expected.duplicates, number);
      for (int i = 0; i < unit.count; ++i) {
        const std::int64_t offset = contended.offset_of(unit) + i;
        if (pool_.page_at(offset) == nullptr) {
          findings_.put(findings_.room(1),
                        {offset, token, contended.contenders(), Area::pool, contended.image(token, unit)[i], 0, 0, true});
        }
      }
    }
  }

  // Takes findings in touched pages.
  struct Touched {
    SparseJudge& judge;

    static std::int64_t room(int) { return 0; }
    void put(std::int64_t, const Finding& finding) {
      if (judge.pool_.page_at(finding.offset) != nullptr) {
        judge.findings_.put(judge.findings_.room(1), finding);
      }
    }
  };

  const SparsePool& pool_;
  Poison poison_;
  Findings& findings_;
  SparseCounts counts_;
};

}  // namespace

SparseCounts judge_sparse_pool(const Expectation& expected, const SparsePool& pool, const Poison& poison,
                               Findings& findings) {
  SparseJudge judge(pool, poison, findings);
  judge.pool(expected);
  judge.guards();
  return judge.counts();
}

SparseCounts judge_unchanged_sparse_pool(const SparsePool& pool, const Poison& poison, Findings& findings) {
  SparseJudge judge(pool, poison, findings);
  judge.unchanged_pool();
  judge.guards();
  return judge.counts();
}

}  // namespace kvproof
