#include "kvproof/properties/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "kvproof/device/error.h"
#include "kvproof/properties/contract.h"
#include "kvproof/reference/model.h"
#include "kvproof/reference/names.h"

namespace kvproof {

ExpectationView Expectation::view(const Poison& poison) const {
  ExpectationView v;
  v.shape = shape;
  v.pad_written = dialect.pad == Pad::zero;
  v.first = first.empty() ? nullptr : first.data();
  v.next = next.data();
  if (!rows.empty()) {
    v.data = rows.front().data;
    v.scales = rows.front().scales;
  }
  v.poison = poison;
  return v;
}

std::int32_t Expectation::head(std::int64_t slot) const {
  if (!first.empty()) {
    return first[static_cast<std::size_t>(slot)];
  }
  const auto at = std::lower_bound(owned.begin(), owned.end(), slot,
                                   [](const OwnedSlot& one, std::int64_t wanted) { return one.slot < wanted; });
  return at != owned.end() && at->slot == slot ? at->head : nobody;
}

namespace {

// Whose slots are at the moment, and since which step; the first step is 1.
class Heads {
 public:
  struct Head {
    std::int32_t token = nobody;
    std::int32_t step = 0;
  };

  Heads(std::int64_t capacity, Slots slots)
      : all_(slots == Slots::all ? static_cast<std::size_t>(capacity) : 0), listed_(slots == Slots::owned) {}

  Head& of(std::int64_t slot) { return listed_ ? some_[slot] : all_[static_cast<std::size_t>(slot)]; }

  void tell(Expectation& e) const {
    e.first.reserve(all_.size());
    for (const Head& head : all_) {
      e.first.push_back(head.token);
    }
    for (const auto& [slot, head] : some_) {
      if (head.token != nobody) {
        e.owned.push_back({slot, head.token});
      }
    }
    std::sort(e.owned.begin(), e.owned.end(), [](const OwnedSlot& a, const OwnedSlot& b) { return a.slot < b.slot; });
  }

 private:
  std::vector<Head> all_;
  std::unordered_map<std::int64_t, Head> some_;
  bool listed_;
};

// Takes the steps one after the other and says who owns each slot.
class Owners {
 public:
  Owners(const Case& c, const Dialect& dialect, Rows rows, Slots slots, Expectation& e)
      : case_(c), dialect_(dialect), rows_(rows), e_(e), heads_(c.shape.capacity(), slots) {}

  void take(const Step& step) {
    ++step_;
    if (const auto* copied = std::get_if<CopySlot>(&step)) {
      heads_.of(copied->to).token = std::int32_t{heads_.of(copied->from).token};
      return;
    }
    const auto& stored = std::get<StoreTokens>(step);
    for (std::int64_t token = stored.first; token < stored.first + stored.tokens; ++token) {
      this->token(token);
    }
  }

  void finish() { heads_.tell(e_); }

 private:
  void token(std::int64_t token) {
    const StoreShape& s = case_.shape;
    const auto t = static_cast<std::size_t>(token);
    const Location at = locate(case_.indices[t], s.pages, s.page_size, dialect_);
    if (at.fate == Fate::skipped) {
      return;
    }
    if (at.fate == Fate::outside_contract) {
      throw BadInput(fmt::format("token {}: index {} is outside the dialect's contract, expected 0 to {}", token,
                                 case_.indices[t], s.capacity() - 1));
    }
    if (rows_ == Rows::encoded) {
      model::encode_row(case_.input.data() + token * s.row_stride, s.input_type, dialect_, s.fp8, &e_.rows[t]);
    }
    Heads::Head& head = heads_.of(at.page * s.page_size + at.slot);
    const bool contended = head.step == step_ && e_.duplicates != Duplicates::last;
    e_.next[t] = contended ? head.token : nobody;
    head = {static_cast<std::int32_t>(token), step_};
    ++e_.stored_tokens;
  }

  const Case& case_;
  const Dialect& dialect_;
  Rows rows_;
  Expectation& e_;
  Heads heads_;
  std::int32_t step_ = 0;
};

}  // namespace

Expectation expect(const Case& c, const Dialect& dialect, Duplicates duplicates, Rows rows, Slots slots) {
  return expect(c, dialect, duplicates, rows, {StoreTokens{0, c.shape.tokens}}, slots);
}

Expectation expect(const Case& c, const Dialect& dialect, Duplicates duplicates, Rows rows, const std::vector<Step>& steps,
                   Slots slots) {
  Expectation e;
  e.shape = c.shape;
  e.dialect = dialect;
  e.duplicates = duplicates;
  e.next.assign(static_cast<std::size_t>(c.shape.tokens), nobody);
  if (rows == Rows::encoded) {
    e.rows.resize(static_cast<std::size_t>(c.shape.tokens));
  }
  Owners owners(c, dialect, rows, slots, e);
  for (const Step& step : steps) {
    owners.take(step);
  }
  owners.finish();
  return e;
}

std::optional<std::string> case_contradiction(const Case& c, const Dialect& dialect) {
  const StoreShape& s = c.shape;
  if (s.layout != dialect.layout) {
    return fmt::format("layout {}: the dialect is of layout {}", name_of(s.layout), name_of(dialect.layout));
  }
  if (s.tokens < 0 || s.tokens > std::numeric_limits<std::int32_t>::max()) {
    return fmt::format("tokens {}: expected 0 to {}", s.tokens, std::numeric_limits<std::int32_t>::max());
  }
  if (s.page_size < 1 || s.page_size > std::numeric_limits<std::int32_t>::max()) {
    return fmt::format("page size {}: expected 1 to {}", s.page_size, std::numeric_limits<std::int32_t>::max());
  }
  if (s.pages < 1 || s.pages > (std::int64_t{1} << 40)) {
    return fmt::format("pages {}: expected 1 to 2^40", s.pages);
  }
  if (s.page_stride < smallest_page_stride(s.layout, s.page_size)) {
    return fmt::format("page stride {}: expected at least {} for page size {} of layout {}", s.page_stride,
                       smallest_page_stride(s.layout, s.page_size), s.page_size, name_of(s.layout));
  }
  if (s.page_stride > (std::int64_t{1} << 50) / s.pages) {
    return fmt::format("page stride {}: {} pages of it exceed 2^50 bytes", s.page_stride, s.pages);
  }
  if (s.row_stride > std::int64_t{1} << 40) {
    return fmt::format("row stride {}: expected at most 2^40", s.row_stride);
  }
  if (s.row_stride < s.row_bytes()) {
    return fmt::format("row stride {}: expected at least {} for {} values of {}", s.row_stride, s.row_bytes(),
                       layout_shape(s.layout).row_values, name_of(s.input_type));
  }
  if (static_cast<std::int64_t>(c.input.size()) != s.input_bytes()) {
    return fmt::format("input: {} bytes, expected {}", c.input.size(), s.input_bytes());
  }
  if (static_cast<std::int64_t>(c.indices.size()) != s.tokens) {
    return fmt::format("indices: {} values, expected {} (tokens)", c.indices.size(), s.tokens);
  }
  for (std::size_t t = 0; t < c.indices.size(); ++t) {
    const std::int64_t index = c.indices[t];
    if (s.index_type == IndexType::int32 && (index < INT32_MIN || index > INT32_MAX)) {
      return fmt::format("token {}: index {} does not fit int32", t, index);
    }
    if (locate(index, s.pages, s.page_size, dialect).fate == Fate::outside_contract) {
      return fmt::format("token {}: index {} is outside the contract of invalid index policy {}, expected 0 to {}", t, index,
                         name_of(dialect.invalid), s.capacity() - 1);
    }
  }
  return contract_breach(c, dialect);
}

std::vector<std::uint8_t> index_bytes_of(const Case& c) {
  const int width = index_bytes(c.shape.index_type);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(c.indices.size() * static_cast<std::size_t>(width));
  for (const std::int64_t index : c.indices) {
    for (int byte = 0; byte < width; ++byte) {
      bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(index) >> (8 * byte)));
    }
  }
  return bytes;
}

}  // namespace kvproof
