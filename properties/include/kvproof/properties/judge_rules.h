// What a byte of the arena must be, eight bytes at a time: the judges on the host and on the GPU are both made of this.
//
// A sink takes what is wrong: `at = sink.room(n)` for n bytes, then `sink.put(at + i, finding)` for each.
#pragma once

#include <cstdint>
#include <cstring>

#include "kvproof/properties/expectation.h"
#include "kvproof/properties/wrong_byte.h"

namespace kvproof {

// A wrong byte before it has a name.
struct Finding {
  std::int64_t offset;
  std::int32_t token;       // the owner, or `nobody`
  std::int32_t contenders;  // tokens that may own it
  Area area;
  std::uint8_t expected;
  std::uint8_t found;
  std::int64_t modulo = 0;  // the offset is known modulo this; 0: it is exact
  bool untouched = false;   // nothing has touched the memory here: an owned byte was not written, whatever it reads
};

// What eight bytes must be.
struct WordRule {
  std::uint64_t expected;
  std::uint64_t compared;   // 0xFF in each byte that this rule speaks of
  std::uint64_t unowned;    // 0xFF in each byte that is nobody's
  std::int32_t low_token;   // of the first four bytes
  std::int32_t high_token;  // of the last four
};

inline constexpr std::uint64_t all_bytes = ~std::uint64_t{0};
inline constexpr std::uint64_t low_bytes = 0xFFFFFFFFULL;

// Eight bytes; on the GPU `at` is aligned to them.
KVPROOF_HD inline std::uint64_t load_word(const std::uint8_t* at) {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<const std::uint64_t*>(at);
#else
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
#endif
}

KVPROOF_HD inline std::int32_t head_of(const ExpectationView& view, std::int64_t page, std::int64_t slot) {
  return view.first == nullptr ? nobody : view.first[page * view.shape.page_size + slot];
}

// Whether the pool can be judged in words: pages begin at words, and a place in a page fits 32 bits.
KVPROOF_HD inline bool made_of_words(const StoreShape& shape) {
  return shape.page_stride % 8 == 0 && shape.page_stride < (std::int64_t{1} << 32);
}

// Eight bytes of the data plane: `at` of the slot's data.
KVPROOF_HD inline WordRule data_rule(const ExpectationView& view, std::int32_t token, std::int64_t offset,
                                     std::uint32_t at) {
  if (token == nobody) {
    return {poison_word(view.poison, offset >> 3), all_bytes, all_bytes, nobody, nobody};
  }
  if (view.next[token] != nobody) {
    return {0, 0, 0, token, token};
  }
  return {load_word(view.data_of(token) + at), all_bytes, 0, token, token};
}

// Eight bytes of the FlashMLA scale plane: one slot's scales and its pad byte.
KVPROOF_HD inline WordRule flashmla_scale_rule(const ExpectationView& view, std::int32_t token, std::int64_t offset) {
  const std::uint64_t poison = poison_word(view.poison, offset >> 3);
  if (token == nobody) {
    return {poison, all_bytes, all_bytes, nobody, nobody};
  }
  const std::uint64_t kept = view.pad_written ? 0 : std::uint64_t{0xFF} << 56;
  if (view.next[token] != nobody) {
    return {poison, kept, kept, token, token};
  }
  return {(load_word(view.scales_of(token)) & ~kept) | (poison & kept), all_bytes, kept, token, token};
}

// Four bytes of the indexer's scale plane: one slot's scale, in the low half of the rule.
KVPROOF_HD inline WordRule indexer_scale_rule(const ExpectationView& view, std::int32_t token, std::uint64_t poison) {
  if (token == nobody) {
    return {poison & low_bytes, low_bytes, low_bytes, nobody, nobody};
  }
  if (view.next[token] != nobody) {
    return {0, 0, 0, token, token};
  }
  const std::uint8_t* scale = view.scales_of(token);
  const std::uint64_t expected = static_cast<std::uint64_t>(scale[0]) | static_cast<std::uint64_t>(scale[1]) << 8 |
                                 static_cast<std::uint64_t>(scale[2]) << 16 | static_cast<std::uint64_t>(scale[3]) << 24;
  return {expected, low_bytes, 0, token, token};
}

// The eight bytes at `within` of a page that begins at a word, at `offset` of the pool.
template <Layout layout>
KVPROOF_HD inline WordRule rule_of_word(const ExpectationView& view, std::int64_t page, std::uint32_t within,
                                        std::int64_t offset) {
  constexpr auto data_bytes = static_cast<std::uint32_t>(layout_shape(layout).data_bytes);
  constexpr auto scale_bytes = static_cast<std::uint32_t>(layout_shape(layout).scale_bytes);
  const auto slots = static_cast<std::uint32_t>(view.shape.page_size);
  const std::uint32_t scales = slots * data_bytes;
  if (within < scales) {
    const std::uint32_t slot = within / data_bytes;
    return data_rule(view, head_of(view, page, slot), offset, within - slot * data_bytes);
  }
  const std::uint32_t slot = (within - scales) / scale_bytes;
  if constexpr (layout == Layout::flashmla) {
    return slot < slots ? flashmla_scale_rule(view, head_of(view, page, slot), offset) : data_rule(view, nobody, offset, 0);
  } else {
    const std::uint64_t poison = poison_word(view.poison, offset >> 3);
    const WordRule low = indexer_scale_rule(view, slot < slots ? head_of(view, page, slot) : nobody, poison);
    const WordRule high = indexer_scale_rule(view, slot + 1 < slots ? head_of(view, page, slot + 1) : nobody, poison >> 32);
    return {low.expected | high.expected << 32, low.compared | high.compared << 32, low.unowned | high.unowned << 32,
            low.low_token, high.low_token};
  }
}

// Compares eight bytes with their rule.
template <class Sink>
KVPROOF_HD inline void judge_word(const WordRule& rule, Area area, std::int64_t offset, std::uint64_t found, Sink&& sink) {
  const std::uint64_t wrong = (rule.expected ^ found) & rule.compared;
  if (wrong == 0) {
    return;
  }
  int count = 0;
  for (int byte = 0; byte < 8; ++byte) {
    count += ((wrong >> (8 * byte)) & 0xFF) != 0 ? 1 : 0;
  }
  std::int64_t at = sink.room(count);
  for (int byte = 0; byte < 8; ++byte) {
    if (((wrong >> (8 * byte)) & 0xFF) != 0) {
      const bool owned = ((rule.unowned >> (8 * byte)) & 0xFF) == 0;
      const std::int32_t token = !owned ? nobody : (byte < 4 ? rule.low_token : rule.high_token);
      sink.put(at++, {offset + byte, token, owned ? 1 : 0, area, static_cast<std::uint8_t>(rule.expected >> (8 * byte)),
                      static_cast<std::uint8_t>(found >> (8 * byte)), 0});
    }
  }
}

// Sixteen bytes of the pool that begin at `within` of a page, both at words; the second word may lie in the next page.
template <Layout layout, class Sink>
KVPROOF_HD inline void judge_two_words(const ExpectationView& view, std::int64_t page, std::uint32_t within,
                                       std::int64_t offset, std::uint64_t low_found, std::uint64_t high_found, Sink&& sink) {
  constexpr auto data_bytes = static_cast<std::uint32_t>(layout_shape(layout).data_bytes);
  const std::uint32_t slot = within / data_bytes;
  const std::uint32_t at = within - slot * data_bytes;
  if (slot < static_cast<std::uint32_t>(view.shape.page_size) && at + 16 <= data_bytes) {
    // Nearly all of a pool: one slot's data.
    const std::int32_t token = head_of(view, page, slot);
    const WordRule low = data_rule(view, token, offset, at);
    const WordRule high = data_rule(view, token, offset + 8, at + 8);
    if ((((low.expected ^ low_found) & low.compared) | ((high.expected ^ high_found) & high.compared)) != 0) {
      judge_word(low, Area::pool, offset, low_found, sink);
      judge_word(high, Area::pool, offset + 8, high_found, sink);
    }
    return;
  }
  judge_word(rule_of_word<layout>(view, page, within, offset), Area::pool, offset, low_found, sink);
  const bool next_page = std::int64_t{within} + 8 >= view.shape.page_stride;
  judge_word(rule_of_word<layout>(view, next_page ? page + 1 : page, next_page ? 0 : within + 8, offset + 8), Area::pool,
             offset + 8, high_found, sink);
}

template <class Sink>
KVPROOF_HD inline void judge_byte(Area area, std::int64_t offset, std::int32_t token, std::int32_t contenders,
                                  std::uint8_t expected, std::uint8_t found, Sink&& sink) {
  if (expected != found) {
    sink.put(sink.room(1), {offset, token, contenders, area, expected, found, 0});
  }
}

// A byte of the pool, whatever its page begins at. Contended bytes are for judge_contended.
template <class Sink>
KVPROOF_HD inline void judge_pool_byte(const ExpectationView& view, std::int64_t offset, std::uint8_t found, Sink&& sink) {
  if (view.first == nullptr) {
    judge_byte(Area::pool, offset, nobody, 0, poison_byte(view.poison, offset), found, sink);
    return;
  }
  const std::int64_t page = offset / view.shape.page_stride;
  const ByteRule rule = rule_of(view, page, offset - page * view.shape.page_stride);
  if (!rule.contended) {
    judge_byte(Area::pool, offset, rule.token, rule.token == nobody ? 0 : 1, rule.expected, found, sink);
  }
}

// Eight bytes that are nobody's, of which [from, to) count; before the run they were `before`.
template <class Sink>
KVPROOF_HD inline void judge_unowned_word(std::uint64_t before, Area area, std::int64_t word, std::int64_t from,
                                          std::int64_t to, std::uint64_t found, Sink&& sink) {
  std::uint64_t compared = all_bytes;
  const std::int64_t begin = word * 8;
  if (begin < from) {
    compared &= all_bytes << (8 * (from - begin));
  }
  if (begin + 8 > to) {
    compared &= all_bytes >> (8 * (begin + 8 - to));
  }
  judge_word({before, compared, all_bytes, nobody, nobody}, area, begin, found, sink);
}

template <class Sink>
KVPROOF_HD inline void judge_poison_word(const Poison& poison, Area area, std::int64_t word, std::int64_t from,
                                         std::int64_t to, std::uint64_t found, Sink&& sink) {
  judge_unowned_word(poison_word(poison, word), area, word, from, to, found, sink);
}

// A part of a slot that a kernel may write independently of the others: a tile's codes, the rope, a scale, a written pad.
struct Unit {
  int at;       // in the row image
  int count;    // bytes
  bool scales;  // of the scale plane
};

KVPROOF_HD inline int units_of(const ExpectationView& view) {
  const LayoutShape layout = layout_shape(view.shape.layout);
  return 2 * layout.tiles + (layout.rope != 0 ? 1 : 0) + (view.pad_written && layout.pad != 0 ? 1 : 0);
}

KVPROOF_HD inline Unit unit_of(const ExpectationView& view, int number) {
  const LayoutShape layout = layout_shape(view.shape.layout);
  if (number < layout.tiles) {
    return {number * layout.tile, layout.tile, false};
  }
  number -= layout.tiles;
  if (layout.rope != 0) {
    if (number == 0) {
      return {layout.codes, 2 * layout.rope, false};
    }
    --number;
  }
  if (number < layout.tiles) {
    return {number * layout.bytes_per_scale, layout.bytes_per_scale, true};
  }
  return {layout.scale_bytes - layout.pad, layout.pad, true};
}

// A slot that several tokens name, one unit of it against its contenders.
class ContendedSlot {
 public:
  KVPROOF_HD ContendedSlot(const ExpectationView& view, const std::uint8_t* pool, std::int64_t page, std::int64_t slot)
      : view_(view),
        head_(head_of(view, page, slot)),
        data_(page * view.shape.page_stride + data_offset(view.shape.layout, slot)),
        scales_(page * view.shape.page_stride + scale_offset(view.shape.layout, slot, view.shape.page_size)),
        data_found_(pool + data_),
        scales_found_(pool + scales_) {}

  // The same of a slot whose chain and found bytes are given.
  KVPROOF_HD ContendedSlot(const ExpectationView& view, std::int32_t head, std::int64_t page, std::int64_t slot,
                           const std::uint8_t* data_found, const std::uint8_t* scales_found)
      : view_(view),
        head_(head),
        data_(page * view.shape.page_stride + data_offset(view.shape.layout, slot)),
        scales_(page * view.shape.page_stride + scale_offset(view.shape.layout, slot, view.shape.page_size)),
        data_found_(data_found),
        scales_found_(scales_found) {}

  // Each unit is that of some contender; with Duplicates::row all are of the same one; with Duplicates::byte each byte is
  // that of any. What is wrong is told against the contender that comes nearest.
  template <class Sink>
  KVPROOF_HD void judge(Duplicates duplicates, int number, Sink&& sink) const {
    const Unit unit = unit_of(view_, number);
    const std::int32_t token = compared_with(duplicates, number);
    const std::int64_t offset = offset_of(unit);
    for (int i = 0; i < unit.count; ++i) {
      const std::uint8_t found = found_of(unit)[i];
      const std::uint8_t expected = image(token, unit)[i];
      if (found != expected && !(duplicates == Duplicates::byte && of_some(unit, i, found))) {
        judge_byte(Area::pool, offset + i, token, contenders(), expected, found, sink);
      }
    }
  }

  // The contender that a unit is told against.
  KVPROOF_HD std::int32_t compared_with(Duplicates duplicates, int number) const {
    return duplicates == Duplicates::row ? nearest(0, units_of(view_)) : nearest(number, number + 1);
  }

  KVPROOF_HD std::int32_t contenders() const {
    std::int32_t count = 0;
    for (std::int32_t token = head_; token != nobody; token = view_.next[token]) {
      ++count;
    }
    return count;
  }

  KVPROOF_HD std::int64_t offset_of(const Unit& unit) const { return (unit.scales ? scales_ : data_) + unit.at; }

  KVPROOF_HD const std::uint8_t* image(std::int32_t token, const Unit& unit) const {
    return (unit.scales ? view_.scales_of(token) : view_.data_of(token)) + unit.at;
  }

  // Bytes of units [from, to) that are not those of `token`, counted up to `limit`.
  KVPROOF_HD int differing(std::int32_t token, int from, int to, int limit) const {
    int count = 0;
    for (int number = from; number < to; ++number) {
      const Unit unit = unit_of(view_, number);
      const std::uint8_t* expected = image(token, unit);
      const std::uint8_t* found = found_of(unit);
      for (int i = 0; i < unit.count && count < limit; ++i) {
        count += found[i] != expected[i] ? 1 : 0;
      }
    }
    return count;
  }

 private:
  // The first of the chain that differs least.
  KVPROOF_HD std::int32_t nearest(int from, int to) const {
    std::int32_t best = head_;
    int least = differing(head_, from, to, 1 << 30);
    for (std::int32_t token = view_.next[head_]; token != nobody && least != 0; token = view_.next[token]) {
      const int count = differing(token, from, to, least);
      if (count < least) {
        least = count;
        best = token;
      }
    }
    return best;
  }

  KVPROOF_HD bool of_some(const Unit& unit, int i, std::uint8_t found) const {
    for (std::int32_t token = head_; token != nobody; token = view_.next[token]) {
      if (image(token, unit)[i] == found) {
        return true;
      }
    }
    return false;
  }

  KVPROOF_HD const std::uint8_t* found_of(const Unit& unit) const {
    return (unit.scales ? scales_found_ : data_found_) + unit.at;
  }

  const ExpectationView& view_;
  std::int32_t head_;
  std::int64_t data_;  // offsets from the pool's base
  std::int64_t scales_;
  const std::uint8_t* data_found_;
  const std::uint8_t* scales_found_;
};

}  // namespace kvproof
