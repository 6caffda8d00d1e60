#include "kvproof/properties/indices.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "kvproof/reference/locate.h"

namespace kvproof {
namespace {

using Indices = std::vector<std::int64_t>;

class Pool {
 public:
  Pool(const Subject& subject, std::int64_t pages, std::int64_t page_size, std::optional<IndexType> extremes_of)
      : subject_(subject), pages_(pages), page_size_(page_size), extremes_of_(extremes_of) {}

  std::optional<IndexType> extremes_of() const { return extremes_of_; }

  std::int64_t capacity() const { return pages_ * page_size_; }
  std::int64_t pages() const { return pages_; }
  std::int64_t page_size() const { return page_size_; }

  Fate fate(std::int64_t index) const { return locate(index, pages_, page_size_, subject_.dialect).fate; }

  bool duplicates_allowed() const { return subject_.duplicates != Duplicates::forbidden; }

 private:
  const Subject& subject_;
  std::int64_t pages_;
  std::int64_t page_size_;
  std::optional<IndexType> extremes_of_;
};

Indices permutation(Draw& draw, const Pool& pool, std::int64_t tokens) {
  const std::int64_t count = std::min(tokens, pool.capacity());
  if (count * 4 >= pool.capacity()) {
    Indices all(static_cast<std::size_t>(pool.capacity()));
    std::iota(all.begin(), all.end(), 0);
    draw.shuffle(all);
    all.resize(static_cast<std::size_t>(count));
    return all;
  }
  std::set<std::int64_t> seen;
  Indices result;
  while (static_cast<std::int64_t>(result.size()) < count) {
    const std::int64_t index = draw.below(pool.capacity());
    if (seen.insert(index).second) {
      result.push_back(index);
    }
  }
  return result;
}

Indices in_order(Draw& draw, const Pool& pool, std::int64_t tokens) {
  const std::int64_t count = std::min(tokens, pool.capacity());
  Indices result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), draw.between(0, pool.capacity() - count));
  return result;
}

Indices page_edges(Draw& draw, const Pool& pool, std::int64_t tokens) {
  Indices edges;
  for (std::int64_t page = 0; page < pool.pages(); ++page) {
    edges.push_back(page * pool.page_size());
    if (pool.page_size() > 1) {
      edges.push_back((page + 1) * pool.page_size() - 1);
    }
  }
  draw.shuffle(edges);
  edges.resize(static_cast<std::size_t>(std::min<std::int64_t>(tokens, static_cast<std::int64_t>(edges.size()))));
  return edges;
}

// One step of a serving engine: sequences own scattered pages; some prefill a chunk, the rest decode one token each. Evicted
// sequences gave their pages back, and new ones took them in another order.
Indices batching(Draw& draw, const Pool& pool, std::int64_t tokens) {
  Indices free_pages(static_cast<std::size_t>(pool.pages()));
  std::iota(free_pages.begin(), free_pages.end(), 0);
  draw.shuffle(free_pages);
  Indices result;
  while (!free_pages.empty() && static_cast<std::int64_t>(result.size()) < tokens) {
    const std::int64_t held = std::min<std::int64_t>(draw.between(1, 3), static_cast<std::int64_t>(free_pages.size()));
    const Indices own(free_pages.end() - held, free_pages.end());
    free_pages.resize(free_pages.size() - static_cast<std::size_t>(held));
    const std::int64_t room = held * pool.page_size();
    const std::int64_t position = draw.below(room);
    const bool prefill = draw.one_in(2);
    const std::int64_t wanted = prefill ? draw.between(1, room - position) : 1;
    const std::int64_t count = std::min(wanted, tokens - static_cast<std::int64_t>(result.size()));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = position + i;
      result.push_back(own[static_cast<std::size_t>(at / pool.page_size())] * pool.page_size() + at % pool.page_size());
    }
  }
  return result;
}

// Ends of the index type. Those of int64 whose lower 32 bits name slots alias them in a kernel that narrows.
Indices extremes(Draw& draw, const Pool& pool) {
  constexpr std::int64_t two_31 = std::int64_t{1} << 31;
  if (pool.extremes_of() == IndexType::int32) {
    return {-two_31, two_31 - 1};
  }
  const std::int64_t slot = draw.below(pool.capacity());
  return {-two_31,
          two_31 - 1,
          two_31,
          2 * two_31 + slot,
          slot - 2 * two_31,
          std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()};
}

// Indices that the dialect skips. Most lie within a page or two of the pool, so that a kernel that stores them all the same
// is seen in the guards.
Indices skipped_candidates(Draw& draw, const Pool& pool) {
  Indices candidates{-1,
                     -2,
                     -pool.page_size(),
                     -pool.page_size() - 1,
                     pool.capacity(),
                     pool.capacity() + 1,
                     pool.capacity() + pool.page_size() - 1,
                     0};
  // In a quarter of the cases, as a crash says less about where a kernel writes than a stray byte does.
  if (pool.extremes_of() && draw.one_in(4)) {
    candidates = extremes(draw, pool);
  }
  std::erase_if(candidates, [&](std::int64_t index) { return pool.fate(index) != Fate::skipped; });
  return candidates;
}

Indices with_invalid(Draw& draw, const Pool& pool, std::int64_t tokens) {
  Indices result = permutation(draw, pool, tokens);
  const Indices candidates = skipped_candidates(draw, pool);
  if (!candidates.empty() && !result.empty()) {
    for (std::int64_t& index : result) {
      if (draw.one_in(3)) {
        index = draw.of(candidates);
      }
    }
    result[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(result.size())))] = draw.of(candidates);
  }
  return result;
}

Indices padded(Draw& draw, const Pool& pool, std::int64_t tokens, std::int64_t padding) {
  Indices result = batching(draw, pool, draw.between(0, tokens));
  std::erase(result, padding);
  result.resize(static_cast<std::size_t>(tokens), padding);
  return result;
}

Indices duplicates(Draw& draw, const Pool& pool, std::int64_t tokens) {
  const Indices slots = permutation(draw, pool, draw.between(1, std::max<std::int64_t>(1, tokens / 2)));
  Indices result;
  for (std::int64_t i = 0; i < tokens; ++i) {
    result.push_back(draw.of(slots));
  }
  return result;
}

}  // namespace

std::string_view name_of(IndexPattern pattern) {
  static constexpr std::array<std::string_view, index_patterns> names{
      "in order",    "permutation",  "page edges", "continuous batching",
      "padded to 0", "padded to -1", "invalid",    "duplicates"};
  return names.at(static_cast<std::size_t>(pattern));
}

Indices draw_indices(Draw& draw, IndexPattern pattern, const Subject& subject, std::int64_t tokens, std::int64_t pages,
                     std::int64_t page_size, std::optional<IndexType> extremes_of) {
  const Pool pool(subject, pages, page_size, extremes_of);
  switch (pattern) {
    case IndexPattern::in_order:
      return in_order(draw, pool, tokens);
    case IndexPattern::page_edges:
      return page_edges(draw, pool, tokens);
    case IndexPattern::batching:
      return batching(draw, pool, tokens);
    case IndexPattern::padded_to_zero:
      if (pool.duplicates_allowed() || pool.fate(0) == Fate::skipped) {
        return padded(draw, pool, tokens, 0);
      }
      break;
    case IndexPattern::padded_to_minus_one:
      if (pool.fate(-1) == Fate::skipped) {
        return padded(draw, pool, tokens, -1);
      }
      break;
    case IndexPattern::invalid:
      return with_invalid(draw, pool, tokens);
    case IndexPattern::duplicates:
      if (pool.duplicates_allowed()) {
        return duplicates(draw, pool, tokens);
      }
      break;
    case IndexPattern::permutation:
      break;
  }
  return permutation(draw, pool, tokens);
}

}  // namespace kvproof
