// Shrinking: fewer tokens, plainer shapes, plainer values, smaller indices. Every step keeps the case runnable for the
// subject.
#include <algorithm>
#include <set>

#include "derive.h"
#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/expectation.h"

namespace kvproof {
namespace {

class Steps {
 public:
  Steps(const Case& c, const Subject& subject) : c_(c), subject_(subject) {}

  void add(Case smaller) {
    if (smaller != c_ && !case_contradiction(smaller, subject_.dialect) && keeps_promise(smaller)) {
      steps_.push_back(std::move(smaller));
    }
  }

  void fewer_tokens() {
    const std::int64_t n = c_.shape.tokens;
    for (std::int64_t part = n; part >= 1; part /= 2) {
      for (std::int64_t from = 0; from < n; from += part) {
        add(with_tokens(c_, tokens_where(c_, [&](std::int64_t token) { return token < from || token >= from + part; })));
      }
    }
  }

  void plainer_shape() {
    const StoreShape& s = c_.shape;
    if (std::int64_t production = production_page_stride(s.layout, s.page_size); s.page_stride != production) {
      Case smaller = c_;
      smaller.shape.page_stride = production;
      add(std::move(smaller));
    }
    if (s.row_stride != s.row_bytes()) {
      add(with_row_stride(c_, s.row_bytes()));
    }
    std::int64_t used = 1;
    for (const std::int64_t index : c_.indices) {
      used = index >= 0 && index < s.capacity() ? std::max(used, index / s.page_size + 1) : used;
    }
    for (const std::int64_t pages : {used, s.pages - 1}) {
      if (pages >= 1 && pages < s.pages) {
        Case smaller = c_;
        smaller.shape.pages = pages;
        add(std::move(smaller));
      }
    }
    for (const std::int64_t page_size : {std::int64_t{1}, std::int64_t{2}, std::int64_t{64}}) {
      const bool taken = subject_.page_sizes.empty() || std::find(subject_.page_sizes.begin(), subject_.page_sizes.end(),
                                                                  page_size) != subject_.page_sizes.end();
      if (page_size < s.page_size && taken) {
        Case smaller = c_;
        const std::int64_t tail = s.page_stride - smallest_page_stride(s.layout, s.page_size);
        smaller.shape.page_size = page_size;
        smaller.shape.page_stride = smallest_page_stride(s.layout, page_size) + tail;
        smaller.shape.pages = std::max<std::int64_t>(1, std::min(s.pages, (s.capacity() + page_size - 1) / page_size));
        for (std::int64_t& index : smaller.indices) {
          index = index >= 0 && index < s.capacity() ? index % smaller.shape.capacity() : index;
        }
        add(std::move(smaller));
      }
    }
  }

  void smaller_indices() {
    for (std::size_t token = 0; token < c_.indices.size() && token < most_single_steps; ++token) {
      const std::int64_t index = c_.indices[token];
      for (const std::int64_t target : {std::int64_t{0}, index / 2, index - 1}) {
        if (index > 0 && target < index) {
          Case smaller = c_;
          smaller.indices[token] = target;
          add(std::move(smaller));
        }
      }
    }
  }

  void plainer_values() {
    const LayoutShape layout = layout_shape(c_.shape.layout);
    const int bytes = element_bytes(c_.shape.input_type);
    for (std::int64_t token = 0; token < c_.shape.tokens && token < static_cast<std::int64_t>(most_single_steps); ++token) {
      for (int tile = 0; tile < layout.tiles; ++tile) {
        zero(token, tile * layout.tile * bytes, layout.tile * bytes);
      }
      if (layout.rope != 0) {
        zero(token, layout.codes * bytes, layout.rope * bytes);
      }
    }
    // Inside what is left: halves, quarters, then single elements of the first rows.
    for (std::int64_t token = 0; token < std::min<std::int64_t>(c_.shape.tokens, 2); ++token) {
      for (int part = layout.tile / 2; part >= 1; part /= 2) {
        for (int first = 0; first < layout.row_values; first += part) {
          zero(token, first * bytes, std::min(part, layout.row_values - first) * bytes);
        }
      }
    }
  }

  std::vector<Case> take() { return std::move(steps_); }

 private:
  static constexpr std::size_t most_single_steps = 8;

  void zero(std::int64_t token, std::int64_t offset, std::int64_t count) {
    const auto begin = c_.input.begin() + token * c_.shape.row_stride + offset;
    if (std::any_of(begin, begin + count, [](std::uint8_t byte) { return byte != 0; })) {
      Case smaller = c_;
      std::fill_n(smaller.input.begin() + token * c_.shape.row_stride + offset, count, std::uint8_t{0});
      add(std::move(smaller));
    }
  }

  // A kernel that forbids duplicates is never handed any.
  bool keeps_promise(const Case& smaller) const {
    if (subject_.duplicates != Duplicates::forbidden) {
      return true;
    }
    std::set<std::int64_t> seen;
    return std::all_of(smaller.indices.begin(), smaller.indices.end(), [&](std::int64_t index) {
      const Location at = locate(index, smaller.shape.pages, smaller.shape.page_size, subject_.dialect);
      return at.fate != Fate::stored || seen.insert(index).second;
    });
  }

  const Case& c_;
  const Subject& subject_;
  std::vector<Case> steps_;
};

}  // namespace

std::vector<Case> smaller_cases(const Case& c, const Subject& subject) {
  Steps steps(c, subject);
  steps.fewer_tokens();
  steps.plainer_shape();
  steps.smaller_indices();
  steps.plainer_values();
  return steps.take();
}

}  // namespace kvproof
