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

// A serving engine: running sequences own scattered pages, new ones prefill in chunks, the others decode a token each, and
// evicted ones give their pages back, which the next take in another order.
class Engine {
 public:
  Engine(Draw& draw, const Pool& pool) : draw_(draw), pool_(pool), free_pages_(static_cast<std::size_t>(pool.pages())) {
    std::iota(free_pages_.begin(), free_pages_.end(), 0);
    draw.shuffle(free_pages_);
  }

  // The indices of one step of at most `tokens` tokens; at least one if a token is allowed at all.
  Indices step(std::int64_t tokens) {
    Indices batch;
    if (!running_.empty() && (free_pages_.empty() || draw_.one_in(3))) {
      evict(draw_.below(static_cast<std::int64_t>(running_.size())));
    }
    if (running_.empty() || draw_.one_in(2)) {
      running_.emplace_back();
    }
    for (Sequence& sequence : running_) {
      const bool prefill = sequence.length == 0 || draw_.one_in(6);
      append(sequence, prefill ? draw_.between(1, 2 * pool_.page_size()) : 1, tokens, batch);
    }
    if (batch.empty() && tokens > 0) {  // every page is taken, and full
      while (!running_.empty()) {
        evict(0);
      }
      append(running_.emplace_back(), 1, tokens, batch);
    }
    return batch;
  }

 private:
  struct Sequence {
    Indices pages;
    std::int64_t length = 0;
  };

  void append(Sequence& sequence, std::int64_t count, std::int64_t tokens, Indices& batch) {
    for (; count > 0 && static_cast<std::int64_t>(batch.size()) < tokens; --count, ++sequence.length) {
      const std::int64_t slot = sequence.length % pool_.page_size();
      if (slot == 0) {
        if (free_pages_.empty()) {
          return;
        }
        sequence.pages.push_back(free_pages_.back());
        free_pages_.pop_back();
      }
      batch.push_back(sequence.pages.back() * pool_.page_size() + slot);
    }
  }

  void evict(std::int64_t which) {
    const auto at = running_.begin() + which;
    free_pages_.insert(free_pages_.end(), at->pages.begin(), at->pages.end());
    draw_.shuffle(free_pages_);
    running_.erase(at);
  }

  Draw& draw_;
  const Pool& pool_;
  Indices free_pages_;
  std::vector<Sequence> running_;
};

// The step that a trace of a few of them ends with.
Indices batching(Draw& draw, const Pool& pool, std::int64_t tokens) {
  Engine engine(draw, pool);
  for (std::int64_t steps = draw.between(0, 6); steps > 0; --steps) {
    engine.step(tokens);
  }
  return engine.step(tokens);
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
