#include "kvproof/proofs/map.h"

#include <fmt/format.h>

#include <limits>

#include "kernels/address.h"
#include "kvproof/reference/names.h"

namespace kvproof::proofs {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

template <class Address>
AddressMap map_of(Layout layout) {
  return {layout, [](const Term& page, const Term& page_stride) { return kernels::page_begin(page, page_stride); },
          [](const Term& slot) { return Address::data(slot); },
          [](const Term& slot, const Term& page_size) { return Address::scales(slot, page_size); },
          layout_shape(layout).token_bytes()};
}

struct Token {
  Term index, page, slot;
  z3::expr begin;         // of its page
  z3::expr data, scales;  // where its parts of the two planes begin

  z3::expr begin_of(const OwnedRange& range) const { return at(range, range.begin); }
  z3::expr end_of(const OwnedRange& range) const { return at(range, range.end); }

 private:
  z3::expr at(const OwnedRange& range, std::int64_t within) const {
    return (range.in_scales ? scales : data) + data.ctx().int_val(within);
  }
};

// The unknowns of one layout's proof: a pool, and two tokens in it.
class Pool {
 public:
  Pool(z3::context& z, const AddressMap& map)
      : arithmetic_(z),
        map_(map),
        pages_(arithmetic_.unknown("pages")),
        page_size_(arithmetic_.unknown("page_size")),
        stride_(arithmetic_.unknown("page_stride")),
        capacity_(pages_ * page_size_),
        bytes_(pages_ * stride_),
        given_(z) {
    const Term least = page_size_ * map.token_bytes;
    given_.push_back(page_size_.value() >= 1 && page_size_.value() <= std::numeric_limits<std::int32_t>::max());
    given_.push_back(stride_.value() >= least.value() && stride_.value() <= z.int_val(most));
    given_.push_back(pages_.value() >= 0 && bytes_.value() <= z.int_val(most));
  }

  // A token whose index the kernel does not turn away.
  Token token(const std::string& name) {
    const Term index = arithmetic_.unknown("index " + name);
    given_.push_back(index.value() >= 0 && index.value() < capacity_.value());
    const Term page = arithmetic_.quotient("page " + name, index, page_size_);
    const Term slot = kernels::slot_of(index, page, page_size_);
    const Term begin = map_.page_begin(page, stride_);
    const Term data = begin + map_.data(slot);
    const Term scales = begin + map_.scales(slot, page_size_);
    for (const OwnedRange& range : owned_ranges(map_.layout)) {
      (range.in_scales ? scales : data) + range.end;  // one past the last byte is the largest address that is computed
    }
    return {index, page, slot, begin.value(), data.value(), scales.value()};
  }

  Arithmetic& arithmetic() { return arithmetic_; }
  const z3::expr_vector& given() const { return given_; }
  const Term& pages() const { return pages_; }
  const Term& page_size() const { return page_size_; }
  const Term& stride() const { return stride_; }
  const Term& bytes() const { return bytes_; }

  Shown shown() const {
    return {{"pages", pages_.value()}, {"page size", page_size_.value()}, {"page stride", stride_.value()}};
  }

  // Small pools in which a counterexample is looked for.
  std::vector<Fixed> places() const {
    std::vector<Fixed> places;
    for (const std::int64_t size : {1, 2, 3, 64}) {
      for (const std::int64_t tail : {0, 8, 576}) {
        places.push_back({{page_size_.value(), size}, {stride_.value(), size * map_.token_bytes + tail}});
      }
    }
    return places;
  }

 private:
  Arithmetic arithmetic_;
  const AddressMap& map_;
  Term pages_, page_size_, stride_, capacity_, bytes_;
  z3::expr_vector given_;
};

// What the kernel's own check of a call asks of a pool: pages <= (2^63 - 1) / stride, in whole numbers.
void ask_refusal(Questions& questions) {
  z3::context& z = questions.context();
  Arithmetic arithmetic(z);
  const Term pages = arithmetic.unknown("pages");
  const Term stride = arithmetic.unknown("page stride");
  const Term bytes = pages * stride;
  z3::expr_vector given(z);
  given.push_back(pages.value() >= 0 && stride.value() >= 1);
  const Term bound = arithmetic.quotient("bound", Term(arithmetic, z.int_val(most)), stride);
  questions.follows("pages are refused exactly where pages*S > 2^63 - 1", arithmetic, given,
                    (pages.value() > bound.value()) == (bytes.value() > z.int_val(most)),
                    {{"pages", pages.value()}, {"page stride", stride.value()}},
                    {{{stride.value(), 1}}, {{stride.value(), 584}}});
}

void ask_one_token(Questions& questions, Pool& pool, const AddressMap& map, const Token& token) {
  z3::context& z = questions.context();
  Shown shown = pool.shown();
  shown.insert(shown.end(), {{"index", token.index.value()}, {"page", token.page.value()}, {"slot", token.slot.value()}});
  const auto follows = [&](const std::string& text, const z3::expr& claim) {
    questions.follows(text, pool.arithmetic(), pool.given(), claim, shown, pool.places());
  };
  questions.can_be_met("no pool and index meet the kernel's preconditions", pool.arithmetic(), pool.given(), shown,
                       pool.places());
  follows("0 <= page < pages and 0 <= slot < P", token.page.value() >= 0 && token.page.value() < pool.pages().value() &&
                                                     token.slot.value() >= 0 &&
                                                     token.slot.value() < pool.page_size().value());
  z3::expr fit = z.bool_val(true);
  for (const z3::expr& value : pool.arithmetic().intermediates()) {
    fit = fit && value >= z.int_val(std::numeric_limits<std::int64_t>::min()) && value <= z.int_val(most);
  }
  follows(fmt::format("none of {} intermediates overflows int64", pool.arithmetic().intermediates().size()), fit);
  const std::vector<OwnedRange> ranges = owned_ranges(map.layout);
  for (const OwnedRange& range : ranges) {
    follows(fmt::format("{} lie inside the pool", range.name),
            token.begin_of(range) >= 0 && token.end_of(range) <= pool.bytes().value());
    follows(fmt::format("{} lie inside their page, before its tail", range.name),
            token.begin_of(range) >= token.begin &&
                token.end_of(range) <=
                    token.begin + pool.page_size().value() * z.int_val(layout_shape(map.layout).token_bytes()));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t j = i + 1; j < ranges.size(); ++j) {
      follows(fmt::format("{} and {} of a token are disjoint", ranges[i].name, ranges[j].name),
              token.end_of(ranges[i]) <= token.begin_of(ranges[j]) || token.end_of(ranges[j]) <= token.begin_of(ranges[i]));
    }
  }
}

void ask_two_tokens(Questions& questions, Pool& pool, const AddressMap& map, const Token& a, const Token& b) {
  Shown shown = pool.shown();
  shown.insert(shown.end(), {{"one index", a.index.value()}, {"other index", b.index.value()}});
  z3::expr_vector given(questions.context());
  for (unsigned i = 0; i < pool.given().size(); ++i) {
    given.push_back(pool.given()[static_cast<int>(i)]);
  }
  given.push_back(a.index.value() != b.index.value());
  questions.follows("two indices name two slots", pool.arithmetic(), given,
                    a.page.value() != b.page.value() || a.slot.value() != b.slot.value(), shown, pool.places());
  for (const OwnedRange& x : owned_ranges(map.layout)) {
    for (const OwnedRange& y : owned_ranges(map.layout)) {
      Shown both = shown;
      both.insert(both.end(), {{"one begins", a.begin_of(x)}, {"other begins", b.begin_of(y)}});
      questions.follows(fmt::format("{} of one token and {} of another are disjoint", x.name, y.name), pool.arithmetic(),
                        given, a.end_of(x) <= b.begin_of(y) || b.end_of(y) <= a.begin_of(x), both, pool.places());
    }
  }
}

}  // namespace

AddressMap kernel_map(Layout layout) {
  return layout == Layout::flashmla ? map_of<kernels::FlashmlaAddress>(layout) : map_of<kernels::IndexerAddress>(layout);
}

std::vector<OwnedRange> owned_ranges(Layout layout) {
  const LayoutShape shape = layout_shape(layout);
  const std::int64_t written = shape.scale_bytes - shape.pad;
  std::vector<OwnedRange> ranges{{"codes", false, 0, shape.codes}, {"scales", true, 0, written}};
  if (shape.rope != 0) {
    ranges.insert(ranges.begin() + 1, {"rope values", false, shape.codes, shape.data_bytes});
  }
  if (shape.pad != 0) {
    ranges.push_back({"pad bytes", true, written, shape.scale_bytes});
  }
  return ranges;
}

void ask_map(Questions& questions, const AddressMap& map) {
  questions.group(std::string(name_of(map.layout)));
  ask_refusal(questions);
  Pool one(questions.context(), map);
  const Token token = one.token("of a token");
  ask_one_token(questions, one, map, token);
  Pool two(questions.context(), map);
  const Token a = two.token("of one token");
  const Token b = two.token("of another");
  ask_two_tokens(questions, two, map, a, b);
}

}  // namespace kvproof::proofs
