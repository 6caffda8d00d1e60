// Shrinking: fewer tokens, plainer shapes, plainer values, smaller indices. Every step keeps the case runnable for the
// subject.
#include <algorithm>
#include <numeric>
#include <set>

#include "derive.h"
#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/expectation.h"

namespace kvproof {
namespace {

constexpr std::size_t most_single_steps = 8;
constexpr std::int64_t quick_batch = 256;  // tokens: of more, a step takes long, and the boldest of every kind come first

// The steps from one case, in order, each as what it makes of the case.
class Steps {
 public:
  Steps(const Case& c, const Subject& subject) : c_(c), subject_(subject) {}

  void all() {
    const std::int64_t n = c_.shape.tokens;
    if (n <= quick_batch) {
      fewer_tokens(n, 1);
      plainer_shape();
    } else {
      fewer_tokens(n, n / 2);
      plainer_rows(n, n);
      indices_in_order();
      plainer_shape();
      fewer_tokens(n / 4, n / 16);
      plainer_rows(n / 2, n / 16);
      fewer_tokens(n / 32, 1);
    }
    smaller_indices();
    plainer_values();
  }

  std::vector<SmallerCases::Step> take() { return std::move(steps_); }

 private:
  // `step` of the first token and the end of each part of the batch: parts of `largest` tokens, of half as many, and so on.
  template <class MakeStep>
  void in_parts(std::int64_t largest, std::int64_t smallest, MakeStep step) {
    const std::int64_t n = c_.shape.tokens;
    for (std::int64_t part = largest; part >= smallest && part >= 1; part /= 2) {
      for (std::int64_t from = 0; from < n; from += part) {
        step(from, std::min(n, from + part));
      }
    }
  }

  void fewer_tokens(std::int64_t largest, std::int64_t smallest) {
    in_parts(largest, smallest, [this](std::int64_t from, std::int64_t end) {
      add([from, end](const Case& c) {
        return with_tokens(c, tokens_where(c, [&](std::int64_t token) { return token < from || token >= end; }));
      });
    });
  }

  void plainer_rows(std::int64_t largest, std::int64_t smallest) {
    const StoreShape& s = c_.shape;
    std::vector<bool> zero(static_cast<std::size_t>(s.tokens));
    for (std::int64_t token = 0; token < s.tokens; ++token) {
      const auto row = c_.input.begin() + token * s.row_stride;
      zero[static_cast<std::size_t>(token)] =
          std::all_of(row, row + s.row_bytes(), [](std::uint8_t byte) { return byte == 0; });
    }
    in_parts(largest, smallest, [this, &zero](std::int64_t from, std::int64_t end) {
      if (std::find(zero.begin() + from, zero.begin() + end, false) != zero.begin() + end) {
        change([from, end](Case& smaller) {
          for (std::int64_t token = from; token < end; ++token) {
            std::fill_n(smaller.input.begin() + token * smaller.shape.row_stride, smaller.shape.row_bytes(),
                        std::uint8_t{0});
          }
        });
      }
    });
  }

  // Token 0 to slot 0, and so on.
  void indices_in_order() {
    if (c_.shape.tokens <= c_.shape.capacity()) {
      change([](Case& smaller) { std::iota(smaller.indices.begin(), smaller.indices.end(), std::int64_t{0}); });
    }
  }

  void plainer_shape() {
    const StoreShape& s = c_.shape;
    if (std::int64_t production = production_page_stride(s.layout, s.page_size); s.page_stride != production) {
      change([production](Case& smaller) { smaller.shape.page_stride = production; });
    }
    if (s.row_stride != s.row_bytes()) {
      add([](const Case& c) { return with_row_stride(c, c.shape.row_bytes()); });
    }
    std::int64_t used = 1;
    for (const std::int64_t index : c_.indices) {
      used = index >= 0 && index < s.capacity() ? std::max(used, index / s.page_size + 1) : used;
    }
    for (const std::int64_t pages : {used, s.pages - 1}) {
      if (pages >= 1 && pages < s.pages) {
        change([pages](Case& smaller) { smaller.shape.pages = pages; });
      }
    }
    for (const std::int64_t page_size : {std::int64_t{1}, std::int64_t{2}, std::int64_t{64}}) {
      const bool taken = subject_.page_sizes.empty() || std::find(subject_.page_sizes.begin(), subject_.page_sizes.end(),
                                                                  page_size) != subject_.page_sizes.end();
      if (page_size < s.page_size && taken) {
        change([page_size](Case& smaller) { make_page_size(smaller, page_size); });
      }
    }
  }

  void smaller_indices() {
    for (std::size_t token = 0; token < c_.indices.size() && token < most_single_steps; ++token) {
      const std::int64_t index = c_.indices[token];
      if (index <= 0) {
        continue;  // none is plainer, and the least has none below it
      }
      for (const std::int64_t target : {std::int64_t{0}, index / 2, index - 1}) {
        change([token, target](Case& smaller) { smaller.indices[token] = target; });
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

  static void make_page_size(Case& smaller, std::int64_t page_size) {
    const StoreShape s = smaller.shape;
    const std::int64_t tail = s.page_stride - smallest_page_stride(s.layout, s.page_size);
    smaller.shape.page_size = page_size;
    smaller.shape.page_stride = smallest_page_stride(s.layout, page_size) + tail;
    smaller.shape.pages = std::max<std::int64_t>(1, std::min(s.pages, (s.capacity() + page_size - 1) / page_size));
    for (std::int64_t& index : smaller.indices) {
      index = index >= 0 && index < s.capacity() ? index % smaller.shape.capacity() : index;
    }
  }

  void zero(std::int64_t token, std::int64_t offset, std::int64_t count) {
    const std::int64_t at = token * c_.shape.row_stride + offset;
    const auto begin = c_.input.begin() + at;
    if (std::any_of(begin, begin + count, [](std::uint8_t byte) { return byte != 0; })) {
      change([at, count](Case& smaller) { std::fill_n(smaller.input.begin() + at, count, std::uint8_t{0}); });
    }
  }

  template <class Change>
  void change(Change make) {
    add([make](const Case& c) {
      Case smaller = c;
      make(smaller);
      return smaller;
    });
  }

  void add(SmallerCases::Step step) { steps_.push_back(std::move(step)); }

  const Case& c_;
  const Subject& subject_;
  std::vector<SmallerCases::Step> steps_;
};

// A kernel that forbids duplicates is never handed any.
bool keeps_promise(const Case& smaller, const Subject& subject) {
  if (subject.duplicates != Duplicates::forbidden) {
    return true;
  }
  std::set<std::int64_t> seen;
  return std::all_of(smaller.indices.begin(), smaller.indices.end(), [&](std::int64_t index) {
    const Location at = locate(index, smaller.shape.pages, smaller.shape.page_size, subject.dialect);
    return at.fate != Fate::stored || seen.insert(index).second;
  });
}

}  // namespace

SmallerCases::SmallerCases(const Case& c, const Subject& subject) : c_(std::make_shared<const Case>(c)), subject_(&subject) {
  Steps steps(*c_, subject);
  steps.all();
  steps_ = std::make_shared<const std::vector<Step>>(steps.take());
}

std::optional<Case> SmallerCases::next() {
  while (next_ < steps_->size()) {
    Case smaller = (*steps_)[next_++](*c_);
    if (smaller != *c_ && !case_contradiction(smaller, subject_->dialect) && keeps_promise(smaller, *subject_)) {
      return smaller;
    }
  }
  return std::nullopt;
}

}  // namespace kvproof
