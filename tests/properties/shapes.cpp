#include "shapes.h"

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <span>
#include <stdexcept>

#include "altered.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/draw.h"
#include "kvproof/properties/trial.h"

namespace kvproof {
namespace {

constexpr std::int64_t two_31 = std::int64_t{1} << 31;
constexpr std::int64_t packed_stride = 1'048'320;  // near 1 MiB, a multiple of 576: many layers packed page by page

Subject strict(const Machine& machine, Layout layout) { return strict_of(machine.subjects(), layout); }

Case case_of(Layout layout, std::int64_t pages, std::int64_t page_size, std::int64_t page_stride,
             std::vector<std::int64_t> indices) {
  Case c = zero_case(layout, pages, page_size, page_stride, std::move(indices));
  // Finite values of bf16, of all signs and of magnitudes near one another.
  Draw draw(3);
  for (std::size_t i = 0; i + 1 < c.input.size(); i += 2) {
    const std::uint64_t bits = draw.bits();
    c.input[i] = static_cast<std::uint8_t>(bits);
    c.input[i + 1] = static_cast<std::uint8_t>((bits >> 8 & 0x81) | 0x3E);
  }
  c.poison_seed = 99;
  return c;
}

std::string what_is_wrong(const Trial& trial) {
  for (const Judgement& judged : trial.judged) {
    if (!judged.holds()) {
      return summarise(judged) + "; " + describe(judged.wrong.front(), *trial.run, trial.expected.dialect);
    }
  }
  return misbehaviour(trial).value_or("");
}

// All of a right store, with as many codes compared as were stored, twice.
void expect_right(const Trial& trial, std::int64_t stored) {
  EXPECT_EQ(what_is_wrong(trial), "") << describe_call(*trial.run);
  EXPECT_EQ(trial.seen[0].outcome, Outcome::stored) << trial.seen[0].message;
  EXPECT_EQ(trial.expected.stored_tokens, stored);
}

std::int64_t data_at(const StoreShape& s, std::int64_t index) {
  return index / s.page_size * s.page_stride + data_offset(s.layout, index % s.page_size);
}

std::int64_t scales_at(const StoreShape& s, std::int64_t index) {
  return index / s.page_size * s.page_stride + scale_offset(s.layout, index % s.page_size, s.page_size);
}

// A changed byte of the token's codes, rope and scales is seen at its place; a copy of its row `down` bytes further down,
// where a narrow offset would have put it, is seen there.
void expect_both_places_watched(const Machine& machine, Arena& arena, const Case& c, std::int64_t token, std::int64_t down) {
  const StoreShape& s = c.shape;
  const LayoutShape layout = layout_shape(s.layout);
  const std::int64_t index = c.indices[static_cast<std::size_t>(token)];
  const std::int64_t data = data_at(s, index);
  const std::int64_t scales = scales_at(s, index);
  std::vector<std::pair<std::int64_t, Region>> places{{data + 1, Region::code}, {scales, Region::scale}};
  if (layout.rope != 0) {
    places.insert(places.begin() + 1, {data + layout.codes + 3, Region::rope});
  }
  Altered changed{strict(machine, s.layout), [&](const kvproof_store_call& call) {
                    for (const auto& [at, region] : places) {
                      machine.flip(pool_of(call) + at, 0x10, call.stream);
                    }
                  }};
  const Trial here = try_case(arena, subject_of(changed), c);
  for (const Judgement& judged : here.judged) {
    ASSERT_EQ(judged.wrong_bytes, static_cast<std::int64_t>(places.size())) << summarise(judged);
    for (std::size_t i = 0; i < places.size(); ++i) {
      EXPECT_EQ(judged.wrong[i].offset, places[i].first);
      EXPECT_EQ(judged.wrong[i].place.region, places[i].second);
      EXPECT_EQ(judged.wrong[i].token, token);
    }
  }
  if (data - down < -arena.reach()) {
    return;
  }
  // Codes and rope, then scales.
  for (const auto& [from, count] :
       {std::pair{data, layout.data_bytes}, std::pair{scales, layout.scale_bytes - layout.pad}}) {
    Altered strayed{strict(machine, s.layout), [&, at = from, bytes = count](const kvproof_store_call& call) {
                      machine.copy(pool_of(call) + at - down, pool_of(call) + at, bytes, call.stream);
                    }};
    const Trial there = try_case(arena, subject_of(strayed), c);
    const Judgement wrong = wrong_of(there, [](const WrongByte&) { return true; });
    ASSERT_GE(wrong.wrong_bytes, count * 9 / 10) << from - down;
    ASSERT_LE(wrong.wrong_bytes, count) << from - down;
    for (const WrongByte& byte : wrong.wrong) {
      EXPECT_NE(byte.wrong, Wrong::missing);  // nobody's byte, or another token's
      EXPECT_EQ(byte.area, byte.offset < 0 ? Area::guard_before_pool : Area::pool);
      const std::int64_t off = byte.modulo == 0 ? byte.offset - (from - down) : (byte.offset - (from - down)) % byte.modulo;
      EXPECT_GE(off, 0) << byte.offset;
      EXPECT_LT(off, count) << byte.offset;
    }
  }
}

TEST_P(Shapes, every_page_size_from_1_to_4096) {
  Arena arena(GetParam().memory());
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    for (const std::int64_t page_size :
         {1, 2, 3, 5, 7, 16, 31, 33, 64, 100, 127, 128, 255, 256, 999, 1024, 2047, 4095, 4096}) {
      std::vector<std::int64_t> indices;
      for (std::int64_t page = 0; page < 3; ++page) {
        for (const std::int64_t slot : {std::int64_t{0}, page_size / 2, page_size - 1}) {
          if (indices.empty() || page * page_size + slot > indices.back()) {
            indices.push_back(page * page_size + slot);
          }
        }
      }
      const Case c = case_of(layout, 3, page_size, production_page_stride(layout, page_size), indices);
      expect_right(try_case(arena, strict(GetParam(), layout), c), c.shape.tokens);
    }
  }
}

// Most of a long batch is padding that is skipped, as in a graph; what is stored lies all along it, its last token among it.
TEST_P(Shapes, batches_of_0_to_1048577_tokens) {
  Arena arena(GetParam().memory());
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    for (const std::int64_t tokens : {0, 1, 31, 32, 33, 65'535, 65'536, 65'537, 1'048'577}) {
      if (tokens > 100'000 && layout == Layout::flashmla && !GetParam().large) {
        continue;  // a gigabyte of input, kept four times
      }
      const std::int64_t apart = tokens > 100 ? 509 : 1;
      std::vector<std::int64_t> indices(static_cast<std::size_t>(tokens), -1);
      std::int64_t stored = 0;
      for (std::int64_t token = tokens - 1; token >= 0; token -= apart) {
        indices[static_cast<std::size_t>(token)] = stored++;
      }
      const Case c = case_of(layout, stored / 64 + 1, 64, production_page_stride(layout, 64), indices);
      const Trial trial = try_case(arena, strict(GetParam(), layout), c);
      expect_right(trial, stored);
      EXPECT_EQ(trial.codes(), 2 * stored * layout_shape(layout).codes);
    }
  }
}

// In 32 bits each of these is another index, most of them that of a slot; all are skipped.
TEST_P(Shapes, int64_indices_beyond_32_bits) {
  const Machine& machine = GetParam();
  Arena arena(machine.memory());
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    Case c =
        case_of(layout, 4, 64, production_page_stride(layout, 64),
                {7, two_31, 2 * two_31, 2 * two_31 + 5, 2 * two_31 + 255, 200, -2 * two_31 + 9, most, -most - 1, -two_31});
    c.shape.index_type = IndexType::int64;
    expect_right(try_case(arena, strict(machine, layout), c), 2);
    // The row of 2^32 + 5 in slot 5.
    Altered narrowed{strict(machine, layout), [&](const kvproof_store_call& call) {
                       machine.copy(pool_of(call) + data_at(c.shape, 5), pool_of(call) + data_at(c.shape, 7),
                                    layout_shape(layout).data_bytes, call.stream);
                     }};
    const Trial wrong = try_case(arena, subject_of(narrowed), c);
    const Judgement all = wrong_of(wrong, [](const WrongByte&) { return true; });
    EXPECT_EQ(all.wrong_bytes, layout_shape(layout).data_bytes);
    EXPECT_EQ(all.wrong.at(0).page, 0);
    EXPECT_EQ(all.wrong.at(0).place.slot, 5);
  }
}

// Where an offset of 32 bits first wraps with the page strides of production.
TEST_P(Shapes, first_offsets_that_wrap_at_production_strides) {
  struct WrapPoint {
    Layout layout;
    std::int64_t page_size;
    std::int64_t index;
    enum { data, rope, scale } what;
    std::int64_t wraps_at;  // bytes
  };
  Arena arena(GetParam().memory());
  for (const WrapPoint& point : {WrapPoint{Layout::flashmla, 256, 3'670'784, WrapPoint::scale, two_31},
                                 WrapPoint{Layout::flashmla, 64, 3'670'912, WrapPoint::data, two_31},
                                 WrapPoint{Layout::flashmla, 128, 3'670'912, WrapPoint::data, two_31},
                                 WrapPoint{Layout::flashmla, 64, 7'341'824, WrapPoint::rope, 2 * two_31},
                                 WrapPoint{Layout::indexer, 64, 16'268'816, WrapPoint::data, two_31},
                                 WrapPoint{Layout::indexer, 64, 65'075'200, WrapPoint::scale, 4 * two_31}}) {
    const std::int64_t index = point.index;
    const Case c = case_of(point.layout, index / point.page_size + 2, point.page_size,
                           production_page_stride(point.layout, point.page_size), {index - 1, index, index + 1, 0, 1});
    SCOPED_TRACE(fmt::format("index {}, page size {}", index, point.page_size));
    const LayoutShape layout = layout_shape(point.layout);
    const auto last = [&](std::int64_t of) {
      return point.what == WrapPoint::scale ? scales_at(c.shape, of) + layout.scale_bytes - 1
                                            : data_at(c.shape, of) + layout.data_bytes - 1;
    };
    EXPECT_GE(last(index), point.wraps_at);
    EXPECT_LT(last(index - 1), point.wraps_at);
    expect_right(try_case(arena, strict(GetParam(), point.layout), c), c.shape.tokens);
    expect_both_places_watched(GetParam(), arena, c, 1, point.wraps_at);      // to the front of the pool
    expect_both_places_watched(GetParam(), arena, c, 1, 2 * point.wraps_at);  // below it
  }
}

TEST_P(Shapes, packed_layers_past_2_4_and_8_gibibytes) {
  Arena arena(GetParam().memory());
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    for (const std::int64_t boundary : {two_31, 2 * two_31, 4 * two_31}) {
      const std::int64_t last = boundary / packed_stride + 2;
      std::vector<std::int64_t> indices;
      for (std::int64_t page = last - 3; page <= last; ++page) {
        for (const std::int64_t slot : {0, 1, 31, 63}) {
          indices.push_back(page * 64 + slot);
        }
      }
      const Case c = case_of(layout, last + 1, 64, packed_stride, indices);
      expect_right(try_case(arena, strict(GetParam(), layout), c), c.shape.tokens);
      expect_both_places_watched(GetParam(), arena, c, c.shape.tokens - 1, boundary);
      expect_both_places_watched(GetParam(), arena, c, c.shape.tokens - 1, 2 * boundary);
    }
  }
}

// Right, or refused with every byte in its place.
TEST_P(Shapes, strides_of_any_alignment_are_right_or_refused) {
  Arena arena(GetParam().memory());
  int right = 0;
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    for (std::int64_t more = 0; more <= 17; ++more) {
      for (const std::int64_t row_more : {0, 2, 4, 14, 16}) {
        Case c = case_of(layout, 3, 5, smallest_page_stride(layout, 5) + more, {0, 4, 5, 14, 9});
        const Case packed = c;
        c.shape.row_stride += row_more;
        c.input.assign(static_cast<std::size_t>(c.shape.input_bytes()), 0xA5);
        for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
          std::copy_n(packed.input.begin() + token * packed.shape.row_stride, packed.shape.row_bytes(),
                      c.input.begin() + token * c.shape.row_stride);
        }
        const Trial trial = try_case(arena, strict(GetParam(), layout), c);
        EXPECT_EQ(what_is_wrong(trial), "") << describe_call(c);
        EXPECT_TRUE(!trial.refused() || (more % 16 != 0 || row_more % 16 != 0)) << trial.seen[0].message;
        right += trial.refused() ? 0 : 1;
      }
    }
  }
  EXPECT_GE(right, 2 * 2 * 2);
}

// A call whose cache, input or index pointer is moved by some bytes. Each byte of the cache must be what follows from that.
enum class Base { cache, input, index };

std::vector<std::uint8_t> behind(std::int64_t bytes, std::span<const std::uint8_t> what) {
  std::vector<std::uint8_t> all(static_cast<std::size_t>(bytes), 0xA5);
  all.insert(all.end(), what.begin(), what.end());
  return all;
}

// Whether the call was taken.
bool store_moved(const Machine& machine, Arena& arena, Layout layout, Base base, std::int64_t moved) {
  const Case c = case_of(layout, 3, 5, production_page_stride(layout, 5), {0, 4, 5, 14, 9});
  const auto by = [&](Base one) { return base == one ? moved : 0; };
  Altered shifted{strict(machine, layout), [](const kvproof_store_call&) {},
                  [&](kvproof_store_call& call) {
                    call.cache = pool_of(call) + by(Base::cache);
                    call.input = static_cast<const std::uint8_t*>(call.input) + by(Base::input);
                    call.index = static_cast<const std::uint8_t*>(call.index) + by(Base::index);
                  }};
  const Subject subject = subject_of(shifted);
  const std::vector<std::uint8_t> input = behind(by(Base::input), c.input);
  const std::vector<std::uint8_t> indices = behind(by(Base::index), index_bytes_of(c));
  const Observation seen = arena.run(subject, c.shape, input, indices, Poison{c.poison_seed, false}, Placement::end_flush);
  const bool refused = seen.outcome == Outcome::refused;
  EXPECT_TRUE(!refused || moved % 16 != 0) << seen.message;
  const Expectation expected = expect(c, subject.dialect, subject.duplicates);
  const ExpectationView view = expected.view(pool_poison(seen.poison));
  std::int64_t wrong = 0;
  for (std::int64_t at = -seen.pool.before; at < seen.pool.size() + seen.pool.after; ++at) {
    const std::int64_t from = at - by(Base::cache);  // in the pool that the kernel saw
    std::uint8_t must = poison_byte(view.poison, at);
    if (!refused && from >= 0 && from < c.shape.pool_bytes()) {
      const ByteRule rule = rule_of(view, from / c.shape.page_stride, from % c.shape.page_stride);
      must = rule.token == nobody ? must : rule.expected;
    }
    wrong += seen.pool.data()[at] == must ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0) << "a base moved by " << moved << " bytes, " << (refused ? seen.message : "stored");
  return !refused;
}

TEST_P(Shapes, bases_of_any_alignment_are_right_or_refused) {
  Arena arena(GetParam().memory());
  for (const Base base : {Base::cache, Base::input, Base::index}) {
    int taken = 0;
    for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
      for (const std::int64_t moved : {0, 1, 2, 3, 4, 6, 8, 12, 15, 16, 17, 32}) {
        taken += store_moved(GetParam(), arena, layout, base, moved) ? 1 : 0;
      }
    }
    EXPECT_GE(taken, 2 * 3) << static_cast<int>(base);
  }
}

// A graph's padding rows all carry index 0: a million contenders for one slot. All is right but for two bits: one of that
// slot, and one of a slot that is nobody's.
TEST_P(Shapes, a_million_tokens_for_slot_0) {
  const Machine& machine = GetParam();
  Arena arena(machine.memory());
  std::vector<std::int64_t> indices(1'048'577, 0);
  for (std::int64_t i = 0; i < 48'577; ++i) {
    indices[static_cast<std::size_t>(i * 21)] = 1 + i % 4000;  // a dozen contenders each
  }
  const Case c = case_of(Layout::indexer, 64, 64, production_page_stride(Layout::indexer, 64), std::move(indices));
  const std::int64_t owned = data_at(c.shape, 0) + 5;
  const std::int64_t unowned = data_at(c.shape, 4090) + 9;
  Altered changed{strict(machine, Layout::indexer), [&](const kvproof_store_call& call) {
                    machine.flip(pool_of(call) + owned, 0x80, call.stream);
                    machine.flip(pool_of(call) + unowned, 0x01, call.stream);
                  }};
  Subject subject = subject_of(changed);
  subject.duplicates = Duplicates::unit;  // what the last of them leaves is that of one of them
  const Trial trial = try_case(arena, subject, c);
  EXPECT_EQ(trial.expected.stored_tokens, c.shape.tokens);
  EXPECT_EQ(trial.codes(), 2 * 4001 * 128);
  for (const Judgement& judged : trial.judged) {
    ASSERT_EQ(judged.wrong_bytes, 2);
    EXPECT_EQ(judged.wrong[0].offset, owned);
    EXPECT_EQ(judged.wrong[0].contenders, 1'000'000);
    EXPECT_EQ(judged.wrong[1].offset, unowned);
    EXPECT_EQ(judged.wrong[1].wrong, Wrong::stray);
  }
}

}  // namespace
}  // namespace kvproof
