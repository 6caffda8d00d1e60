// What is drawn is what the classes promise, can always be run, and gets smaller when it shrinks.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/expectation.h"
#include "kvproof/properties/property.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/f32_multiply.h"
#include "kvproof/reference/fp8_to_f32.h"
#include "kvproof/reference/quantise.h"
#include "planted.h"

namespace kvproof {
namespace {

Subject subject_of(const NamedDialect& entry) {
  Subject s = planted::subject(entry.dialect.layout, planted::right);
  s.dialect = entry.dialect;
  s.dialect_name = entry.name;
  return s;
}

TEST(Generator, EveryCaseCanBeRunInEveryDialect) {
  int cases = 0;
  for (const NamedDialect& entry : dialects()) {
    const Subject subject = subject_of(entry);
    Draw draw(11);
    for (int i = 0; i < 300; ++i, ++cases) {
      const Case c = draw_case(draw, subject, CaseFocus{}, 1 + i % 100);
      ASSERT_EQ(case_contradiction(c, entry.dialect), std::nullopt) << entry.name;
    }
  }
  EXPECT_EQ(cases, 300 * static_cast<int>(dialects().size()));
}

// What draw_case gives, over many cases: every choice it has is taken.
TEST(Generator, CasesTakeEveryChoice) {
  const Subject subject = planted::subject(Layout::flashmla, planted::right);
  std::map<std::string, int> seen;
  Draw draw(19);
  constexpr int cases = 2000;
  for (int i = 0; i < cases; ++i) {
    const StoreShape s = draw_case(draw, subject, CaseFocus{}, 1 + i % 100).shape;
    ++seen["page size " + std::to_string(s.page_size)];
    ++seen["input type " + std::to_string(static_cast<int>(s.input_type))];
    ++seen["index type " + std::to_string(static_cast<int>(s.index_type))];
    ++seen["fp8 type " + std::to_string(static_cast<int>(s.fp8))];
    seen["rows apart"] += s.row_stride > s.row_bytes() ? 1 : 0;
    seen["rows of others between"] += s.row_stride >= 2 * s.row_bytes() && s.row_stride % s.row_bytes() == 0 ? 1 : 0;
    seen["no tokens"] += s.tokens == 0 ? 1 : 0;
    seen["many tokens"] += s.tokens > 33 ? 1 : 0;
    seen["tail"] += s.page_stride > smallest_page_stride(s.layout, s.page_size) ? 1 : 0;
    seen["no tail"] += s.page_stride == smallest_page_stride(s.layout, s.page_size) ? 1 : 0;
    seen["several pages"] += s.pages > 1 ? 1 : 0;
  }
  for (const std::string what : {"page size 2",  "page size 64",  "page size 256",
                                 "page size 1",  "page size 3",   "page size 100",
                                 "page size 32", "input type 0",  "input type 1",
                                 "input type 2", "index type 0",  "index type 1",
                                 "fp8 type 0",   "fp8 type 1",    "rows apart",
                                 "no tokens",    "many tokens",   "tail",
                                 "no tail",      "several pages", "rows of others between"}) {
    EXPECT_GT(seen[what], cases / 100) << what;
  }
}

TEST(Generator, EveryPageSizeUpTo256IsDrawn) {
  const Subject subject = planted::subject(Layout::indexer, planted::right);
  std::set<std::int64_t> sizes;
  Draw draw(23);
  for (int i = 0; i < 40'000; ++i) {
    sizes.insert(draw_case(draw, subject, CaseFocus{}, 1).shape.page_size);
  }
  EXPECT_EQ(std::vector<std::int64_t>(sizes.begin(), sizes.end()), [] {
    std::vector<std::int64_t> all(256);
    std::iota(all.begin(), all.end(), 1);
    return all;
  }());
}

TEST(Generator, EveryClassOfValuesIsDrawn) {
  std::array<int, value_classes> seen{};
  Draw draw(29);
  constexpr int tiles = 4000;
  for (int i = 0; i < tiles; ++i) {
    ++seen[static_cast<std::size_t>(draw_class(draw, balanced_values, find_dialect("strict", Layout::flashmla)->dialect))];
  }
  for (std::size_t i = 0; i < value_classes; ++i) {
    EXPECT_GT(seen[i], tiles / 100) << name_of(static_cast<ValueClass>(i));
  }
  for (const Property& property : properties()) {
    int drawn = 0;
    for (const int weight : property.focus.values) {
      drawn += weight > 0 ? 1 : 0;
    }
    // An aim is a weight, not a blinker; runs that are compared with each other may leave out values without an order.
    EXPECT_GE(drawn, property.over_runs == nullptr ? 8 : 5) << property.name;
  }
}

TEST(Trial, RunsUnderComplementaryPoisonsAndBothPlacements) {
  const Subject subject = planted::subject(Layout::indexer, planted::right);
  Draw draw(37);
  Arena arena(host_memory());
  const Case c = draw_case(draw, subject, CaseFocus{}, 50);
  const Trial trial = try_case(arena, subject, c);
  EXPECT_EQ(trial.seen[0].poison, (Poison{c.poison_seed, false}));
  EXPECT_EQ(trial.seen[1].poison, (Poison{c.poison_seed, true}));
  std::int64_t untouched = 0;
  for (std::int64_t i = -trial.seen[0].pool.before; i < 0; ++i, ++untouched) {
    ASSERT_EQ(trial.seen[0].pool.data()[i] ^ trial.seen[1].pool.data()[i], 0xFF) << i;
  }
  EXPECT_GT(untouched, 1000);
}

TEST(Generator, FarCasesPassTwoFourAndEightGibibytes) {
  const Subject subject = planted::subject(Layout::flashmla, planted::right);
  ASSERT_TRUE(far_rows_land().applies_to(subject));
  Subject elsewhere = subject;
  elsewhere.memory = MemoryKind::cuda;
  ASSERT_TRUE(far_rows_land().applies_to(elsewhere));
  elsewhere.memory = MemoryKind::own;  // its gigabytes would be copied to and fro
  ASSERT_FALSE(far_rows_land().applies_to(elsewhere));
  elsewhere = subject;
  elsewhere.dialect.offset_width = Width::uint32;  // outside its contract
  ASSERT_FALSE(far_rows_land().applies_to(elsewhere));
  Draw draw(13);
  int past_2_gib = 0;
  int past_4_gib = 0;
  int past_8_gib = 0;
  int across = 0;
  int few_pages = 0;
  int wrapped_owned = 0;
  for (int i = 0; i < 200; ++i) {
    const Case c = draw_case(draw, subject, far_rows_land().focus, 100);
    ASSERT_EQ(case_contradiction(c, subject.dialect), std::nullopt);
    ASSERT_LE(c.shape.pool_bytes(), std::int64_t{10} << 30);
    std::int64_t furthest = 0;
    for (const std::int64_t index : c.indices) {
      furthest = std::max(furthest, index / c.shape.page_size * c.shape.page_stride);
      wrapped_owned += index < c.shape.page_size ? 1 : 0;
    }
    few_pages += c.shape.pages <= 9000 ? 1 : 0;
    for (const std::int64_t boundary : {std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 33}) {
      const std::int64_t within = boundary % c.shape.page_stride;
      across +=
          boundary < c.shape.pool_bytes() && within > 0 && within < smallest_page_stride(c.shape.layout, c.shape.page_size)
              ? 1
              : 0;
    }
    past_8_gib += furthest >= std::int64_t{1} << 33 ? 1 : 0;
    past_2_gib += furthest >= std::int64_t{1} << 31 ? 1 : 0;
    past_4_gib += furthest >= std::int64_t{1} << 32 ? 1 : 0;
  }
  EXPECT_GT(past_2_gib, 170);
  EXPECT_GT(past_4_gib, 110);
  EXPECT_GT(past_8_gib, 15);
  EXPECT_GT(across, 25);
  EXPECT_GT(few_pages, 150);
  EXPECT_GT(wrapped_owned, 50);  // page 0 holds rows that a wrapped one would overwrite
}

TEST(Generator, MiddleBatchesComeInEveryBinade) {
  const Subject subject = planted::subject(Layout::indexer, planted::right);
  const CaseFocus& focus = large_shapes_land().focus;
  std::map<std::int64_t, int> of_binade;
  int middle = 0;
  int beside = 0;
  Draw draw(29);
  constexpr int cases = 600;
  for (int i = 0; i < cases; ++i) {
    const Case c = draw_case(draw, subject, focus, i % 95);
    ASSERT_EQ(case_contradiction(c, subject.dialect), std::nullopt);
    if (c.shape.tokens <= usual_batch) {
      continue;
    }
    ASSERT_LT(c.shape.tokens, 65'536);
    ASSERT_EQ(std::set(c.indices.begin(), c.indices.end()).size(), c.indices.size());
    ++middle;
    ++of_binade[std::bit_width(static_cast<std::uint64_t>(c.shape.tokens)) - 1];
    beside += std::has_single_bit(static_cast<std::uint64_t>(c.shape.tokens - 1)) ? 1 : 0;
  }
  EXPECT_GT(middle, cases / 4);
  EXPECT_LT(middle, cases / 2);
  EXPECT_GT(beside, middle / 30);
  for (std::int64_t binade = 7; binade < 14; ++binade) {
    EXPECT_GT(of_binade[binade], middle / 20) << binade;
  }
  EXPECT_GT(of_binade[14] + of_binade[15], 0);
}

TEST(Generator, WithADeclaredErrorNoBatchHasMoreBytesThanTheJudgeKeeps) {
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    Subject subject = planted::subject(layout, planted::right);
    subject.dialect.reciprocal_ulp = 2;
    Draw draw(30);
    std::int64_t most = 0;
    for (int i = 0; i < 200; ++i) {
      most = std::max(most, draw_case(draw, subject, large_shapes_land().focus, i % 101).shape.tokens);
    }
    EXPECT_LE(most, largest_batch(subject));
    EXPECT_EQ(most > usual_batch, layout == Layout::indexer) << most;
  }
  EXPECT_GT(largest_batch(planted::subject(Layout::flashmla, planted::right)), 65'536);
}

TEST(Generator, NonFiniteInputComesOnlyWhereTheDialectStatesWhatItGives) {
  std::map<std::string, std::array<std::int64_t, 2>> seen;
  for (const NamedDialect& entry : dialects()) {
    const Subject subject = subject_of(entry);
    const LayoutShape layout = layout_shape(entry.dialect.layout);
    Draw draw(5);
    for (int i = 0; i < 200; ++i) {
      const Case c = draw_case(draw, subject, CaseFocus{}, 30);
      for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
        for (int v = 0; v < layout.codes; ++v) {
          const F32 x = element_to_f32(element_bits(c.input.data() + token * c.shape.row_stride, c.shape.input_type, v),
                                       c.shape.input_type);
          seen[std::string(entry.name)][0] += f32_is_nan(x) ? 1 : 0;
          seen[std::string(entry.name)][1] += f32_is_infinity(x) ? 1 : 0;
        }
      }
    }
  }
  for (const NamedDialect& entry : dialects()) {
    EXPECT_EQ(seen[std::string(entry.name)][0] > 0, entry.dialect.nan != NanCode::unstated) << entry.name;
    EXPECT_EQ(seen[std::string(entry.name)][1] > 0, entry.dialect.infinity != Infinity::unstated) << entry.name;
  }
}

// Draws many tiles of a class and hands each as its 64 patterns.
template <class Take>
void tiles_of(ValueClass value_class, ElementType type, const Dialect& dialect, Fp8 fp8, Take take) {
  Draw draw(23);
  for (int i = 0; i < 2000; ++i) {
    std::array<std::uint8_t, 64 * 4> row{};
    draw_tile(draw, value_class, dialect, fp8, type, row.data(), 0, 64);
    std::array<F32, 64> values{};
    F32 amax = 0;
    for (int v = 0; v < 64; ++v) {
      values[static_cast<std::size_t>(v)] = element_to_f32(element_bits(row.data(), type, v), type);
      amax = std::max(amax, amax_contribution(values[static_cast<std::size_t>(v)], dialect.infinity));
    }
    take(values, amax);
  }
}

const Dialect& strict() { return find_dialect("strict", Layout::flashmla)->dialect; }

TEST(Values, BinadeEdgeTilesSitOnTheEdgeAndBesideIt) {
  int on = 0;
  int above = 0;
  int below = 0;
  tiles_of(ValueClass::binade_edge, ElementType::bf16, strict(), Fp8::e4m3fn, [&](const auto&, F32 amax) {
    const std::uint32_t mantissa = (amax >> 16) & 0x7F;
    on += mantissa == 0x60 ? 1 : 0;
    above += mantissa == 0x61 ? 1 : 0;
    below += mantissa == 0x5F ? 1 : 0;
    EXPECT_TRUE(mantissa >= 0x5F && mantissa <= 0x61) << std::hex << amax;
  });
  EXPECT_GT(on, 400);
  EXPECT_GT(above, 400);
  EXPECT_GT(below, 400);
}

TEST(Values, TiesAreHalfwayBetweenCodes) {
  std::int64_t exact = 0;
  std::int64_t all = 0;
  std::set<std::uint8_t> codes;
  tiles_of(ValueClass::ties, ElementType::fp32, strict(), Fp8::e4m3fn, [&](const auto& values, F32 amax) {
    const TileScale scale = tile_scale(amax, strict(), Fp8::e4m3fn);
    for (const F32 x : values) {
      const F32 scaled = f32_magnitude(f32_multiply(x, static_cast<F32>(127 - scale.shift) << 23));
      ++all;
      exact += (scaled & 0xFFFFF) == 0x80000 ? 1 : 0;  // the first dropped bit alone
      codes.insert(f32_to_fp8(scaled, Fp8::e4m3fn, 0x7E));
    }
  });
  EXPECT_GT(exact * 4, all);      // a third sits on the tie, the rest a unit beside it
  EXPECT_GT(codes.size(), 100U);  // over the whole range of normal codes
}

TEST(Values, HalfSubnormalTilesReachEverySubnormalCodeAndZero) {
  std::set<std::uint8_t> codes;
  tiles_of(ValueClass::half_subnormals, ElementType::fp32, strict(), Fp8::e4m3fn, [&](const auto& values, F32 amax) {
    const TileScale scale = tile_scale(amax, strict(), Fp8::e4m3fn);
    for (const F32 x : values) {
      codes.insert(quantise(f32_magnitude(x), scale, strict(), Fp8::e4m3fn, 0x7E));
    }
  });
  for (std::uint8_t code = 0; code <= 8; ++code) {
    EXPECT_TRUE(codes.contains(code)) << int{code};
  }
}

TEST(Values, FloorTilesLieOnBothSidesOfTheFloor) {
  int floored = 0;
  int kept = 0;
  tiles_of(ValueClass::floor_neighbours, ElementType::bf16, strict(), Fp8::e4m3fn, [&](const auto&, F32 amax) {
    floored += amax < strict().floor_value ? 1 : 0;
    kept += amax >= strict().floor_value ? 1 : 0;
  });
  EXPECT_GT(floored, 300);
  EXPECT_GT(kept, 300);
}

TEST(Values, EveryInputTypeReachesItsSubnormalsAndItsLargestValue) {
  for (const ElementType type : {ElementType::bf16, ElementType::fp16, ElementType::fp32}) {
    const F32 smallest_normal = type == ElementType::fp16 ? 0x38800000U : 0x00800000U;
    tiles_of(ValueClass::subnormals, type, strict(), Fp8::e4m3fn,
             [&](const auto&, F32 amax) { EXPECT_TRUE(amax > 0 && amax <= smallest_normal); });
    int largest = 0;
    const F32 most = type == ElementType::bf16 ? 0x7F7F0000U : (type == ElementType::fp16 ? 0x477FE000U : 0x7F7FFFFFU);
    tiles_of(ValueClass::extremes, type, strict(), Fp8::e4m3fn, [&](const auto&, F32 amax) {
      EXPECT_LE(amax, most);
      largest += amax == most ? 1 : 0;
    });
    EXPECT_GT(largest, 100);
  }
}

TEST(Values, PatternNearRoundsFp16AsHardwareDoes) {
  std::int64_t compared = 0;
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const F32 exact = f16_to_f32(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(pattern_near(exact, ElementType::fp16), bits);
    ++compared;
  }
  EXPECT_EQ(compared, 0x7C00);
}

TEST(Indices, PatternsHoldWhatTheyAreNamedFor) {
  const Subject subject = planted::subject(Layout::flashmla, planted::right);
  Draw draw(31);
  int with_minus_one = 0;
  int past_the_end = 0;
  int padded_with_zero = 0;
  int padded_with_minus_one = 0;
  int with_duplicates = 0;
  for (int i = 0; i < 500; ++i) {
    const auto distinct = draw_indices(draw, IndexPattern::permutation, subject, 40, 3, 16);
    EXPECT_EQ(std::set(distinct.begin(), distinct.end()).size(), distinct.size());
    const auto batching = draw_indices(draw, IndexPattern::batching, subject, 40, 3, 16);
    EXPECT_EQ(std::set(batching.begin(), batching.end()).size(), batching.size());
    EXPECT_FALSE(batching.empty());
    for (const std::int64_t index : draw_indices(draw, IndexPattern::page_edges, subject, 40, 3, 16)) {
      EXPECT_TRUE(index % 16 == 0 || index % 16 == 15);
    }
    for (const std::int64_t index : draw_indices(draw, IndexPattern::invalid, subject, 20, 3, 16)) {
      with_minus_one += index == -1 ? 1 : 0;
      past_the_end += index >= 48 ? 1 : 0;
    }
    const auto zero = draw_indices(draw, IndexPattern::padded_to_zero, subject, 20, 3, 16);
    padded_with_zero += std::count(zero.begin(), zero.end(), 0) > 1 ? 1 : 0;
    const auto minus_one = draw_indices(draw, IndexPattern::padded_to_minus_one, subject, 20, 3, 16);
    padded_with_minus_one += std::count(minus_one.begin(), minus_one.end(), -1) > 1 ? 1 : 0;
    const auto same = draw_indices(draw, IndexPattern::duplicates, subject, 20, 3, 16);
    with_duplicates += std::set(same.begin(), same.end()).size() < same.size() ? 1 : 0;
  }
  EXPECT_GT(with_minus_one, 100);
  EXPECT_GT(past_the_end, 100);
  EXPECT_GT(padded_with_zero, 300);
  EXPECT_GT(padded_with_minus_one, 300);
  EXPECT_GT(with_duplicates, 450);
}

TEST(Indices, AKernelThatForbidsDuplicatesGetsNone) {
  Subject subject = planted::subject(Layout::flashmla, planted::right);
  subject.duplicates = Duplicates::forbidden;
  Draw draw(41);
  for (int i = 0; i < 2000; ++i) {
    const Case c = draw_case(draw, subject, CaseFocus{}, 50);
    std::set<std::int64_t> stored;
    for (const std::int64_t index : c.indices) {
      if (index >= 0 && index < c.shape.capacity()) {
        ASSERT_TRUE(stored.insert(index).second);
      }
    }
  }
}

std::vector<Case> all_smaller(const Case& c, const Subject& subject) {
  std::vector<Case> all;
  SmallerCases cases(c, subject);
  while (std::optional<Case> one = cases.next()) {
    all.push_back(std::move(*one));
  }
  return all;
}

TEST(Shrinking, EveryStepCanBeRunAndEndsAtTheEmptyCase) {
  const Subject subject = planted::subject(Layout::flashmla, planted::right);
  Draw draw(17);
  for (int i = 0; i < 20; ++i) {
    Case c = draw_case(draw, subject, CaseFocus{}, 20);
    int steps = 0;
    for (auto smaller = all_smaller(c, subject); !smaller.empty(); smaller = all_smaller(c, subject)) {
      for (const Case& one : smaller) {
        ASSERT_EQ(case_contradiction(one, subject.dialect), std::nullopt);
        ASSERT_NE(one, c);
      }
      c = smaller.front();
      ASSERT_LT(++steps, 500);
    }
    EXPECT_EQ(c.shape.tokens, 0);
    EXPECT_EQ(c.shape.pages, 1);
    EXPECT_EQ(c.shape.page_size, 1);
  }
}

// What is left of a large batch by a kernel that is wrong from 400 tokens on: they are told from their number alone.
TEST(Shrinking, ALargeBatchEndsAsRowsOfZerosInOrder) {
  const Subject subject = planted::subject(Layout::indexer, planted::right);
  Draw draw(21);
  CaseFocus focus = large_shapes_land().focus;
  Case c = draw_case(draw, subject, focus, 20);
  while (c.shape.tokens < 3000 || c.shape.tokens > 8000) {
    c = draw_case(draw, subject, focus, 20);
  }
  int runs = 0;
  int runs_to_zeros = 0;
  for (SmallerCases cases(c, subject);;) {
    const std::optional<Case> smaller = cases.next();
    if (!smaller) {
      break;
    }
    ASSERT_EQ(case_contradiction(*smaller, subject.dialect), std::nullopt);
    ++runs;
    if (smaller->shape.tokens >= 400) {
      c = *smaller;
      cases = SmallerCases(c, subject);
    }
    const auto zero = [](std::uint8_t byte) { return byte == 0; };
    if (runs_to_zeros == 0 && std::all_of(c.input.begin(), c.input.begin() + c.shape.row_bytes(), zero)) {
      runs_to_zeros = runs;
    }
  }
  EXPECT_EQ(c.shape.tokens, 400);
  EXPECT_EQ(c.shape.page_size, 1);
  EXPECT_EQ(c.shape.row_stride, c.shape.row_bytes());
  EXPECT_EQ(c.input, std::vector<std::uint8_t>(c.input.size()));
  for (std::int64_t token = 0; token < 400; ++token) {
    EXPECT_LE(c.indices[static_cast<std::size_t>(token)], token);
  }
  EXPECT_LT(runs_to_zeros, 30);
  EXPECT_LT(runs, 3000);
}

// Below the least index there is none: UndefinedBehaviorSanitizer tells of one.
TEST(Shrinking, NegativeIndicesStayAsTheyAre) {
  const Subject subject = planted::subject(Layout::flashmla, planted::right);
  Draw draw(18);
  Case c = draw_case(draw, subject, CaseFocus{}, 20);
  while (c.indices.size() < 2) {
    c = draw_case(draw, subject, CaseFocus{}, 20);
  }
  std::fill(c.indices.begin(), c.indices.end(), std::numeric_limits<std::int64_t>::min());
  c.indices.back() = -1;
  const std::vector<Case> smaller = all_smaller(c, subject);
  EXPECT_FALSE(smaller.empty());
  for (const Case& one : smaller) {
    for (const std::int64_t index : one.indices) {
      EXPECT_TRUE(index == -1 || index == std::numeric_limits<std::int64_t>::min()) << index;
    }
  }
}

}  // namespace
}  // namespace kvproof
