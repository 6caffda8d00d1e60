// The rows of a domain, each made from its number alone: the same on the host and on the GPU, and no row is stored anywhere.
//
// A row packs tiles. A tile is planned first (its amax, where that stands, what the others are), then read element by
// element.
#pragma once

#include <cstdint>

#include "kvproof/reference/element.h"
#include "kvproof/reference/layout.h"

namespace kvproof {

enum class Domain : std::uint32_t {
  scales,      // every amax, of both signs, at every element of every tile
  codes,       // every x that a scale can meet, of both signs
  rope,        // every rope value at every place
  non_finite,  // every NaN and infinity listed, at every element of every tile, in every company
  positions,   // a few (amax, x) at every pair of elements of every tile
  pairs        // every x up to every amax, of both signs, where `codes` takes one amax a scale
};

// Whether a tile enumerates the x of a group.
KVPROOF_HD constexpr bool enumerates(Domain domain) { return domain == Domain::codes || domain == Domain::pairs; }

// One type's patterns. Magnitudes order as their patterns do.
struct Patterns {
  std::uint32_t sign;
  std::uint32_t infinity;  // the finite magnitudes are those below
  std::uint32_t binade;    // the patterns of one exponent
  std::uint32_t one;
};

KVPROOF_HD constexpr Patterns patterns_of(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return {0x8000U, 0x7F80U, 0x80U, 0x3F80U};
    case ElementType::fp16:
      return {0x8000U, 0x7C00U, 0x400U, 0x3C00U};
    case ElementType::fp32:
      break;
  }
  return {0x80000000U, 0x7F800000U, 0x00800000U, 0x3F800000U};
}

// Domain::codes and pairs: consecutive tiles of one amax, over all x of |x| <= amax.
struct CodeGroup {
  std::int64_t first_tile;
  std::int64_t first_pair;  // pairs of the groups before
  std::int64_t pairs;       // 2 * (amax + 1): both zeros count
  std::uint32_t amax;
};

inline constexpr int most_specials = 10;
inline constexpr int position_samples = 8;
inline constexpr int plain_companies = 5;
inline constexpr int fp32_rope_lower_halves = 6;

// A domain as plain data, so that the GPU reads it as it is.
struct DomainView {
  Domain domain = Domain::scales;
  ElementType type = ElementType::bf16;
  Layout layout = Layout::flashmla;
  std::int64_t rows = 0;
  const CodeGroup* groups = nullptr;  // codes, pairs
  std::int64_t group_count = 0;
  const std::uint32_t* amaxes = nullptr;  // scales: which; null: the numbers from 0
  std::int64_t amax_count = 0;
  std::uint32_t specials[most_specials] = {};  // non_finite
  int special_count = 0;
  bool rope_nan = true;  // rope: whether a NaN's value is stated
};

enum class Company : std::uint32_t {
  varied,      // of magnitudes up to `below`
  enumerated,  // the group's x, from `first` on; beyond the last the first follow again
  same         // as the one at `place`
};

struct TilePlan {
  std::uint32_t pattern = 0;  // of the element at `place`
  int place = 0;
  int second_place = -1;  // another element that is given, or -1
  std::uint32_t second = 0;
  Company company = Company::varied;
  std::uint32_t below = 0;
  std::int64_t first = 0;
  std::int64_t group_pairs = 1;
  std::uint32_t seed = 0;
  int pairs = 0;  // that this tile adds to the domain's count
};

KVPROOF_HD constexpr std::uint32_t scattered(std::uint32_t seed, std::uint32_t i) {
  std::uint32_t x = (seed * 64U + i + 1U) * 0x9E3779B1U;
  x ^= x >> 15;
  x *= 0x85EBCA6BU;
  x ^= x >> 13;
  return x;
}

// A pattern of either sign and of a magnitude below `count`.
KVPROOF_HD constexpr std::uint32_t varied_pattern(std::uint32_t roll, std::uint32_t count, std::uint32_t sign) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(roll) * count) >> 32) | ((roll & 1U) != 0 ? sign : 0U);
}

KVPROOF_HD constexpr TilePlan scales_tile(const DomainView& view, std::int64_t row, int tile, int tile_values) {
  const Patterns patterns = patterns_of(view.type);
  TilePlan plan;
  const std::int64_t at = (row / (2 * tile_values) + tile * std::int64_t{4663}) % view.amax_count;
  const std::uint32_t amax = view.amaxes != nullptr ? view.amaxes[at] : static_cast<std::uint32_t>(at);
  const int turn = static_cast<int>(row % (2 * tile_values));
  plan.pattern = amax | ((turn & 1) != 0 ? patterns.sign : 0U);
  plan.place = ((turn >> 1) + 9 * tile) % tile_values;
  // The others stay two binades below: a kernel that overlooks this element is seen in the scale.
  plan.below = amax > 2 * patterns.binade ? amax - 2 * patterns.binade : 0;
  plan.pairs = 1;
  return plan;
}

// Both signs of each value lie side by side, in an order that turns from value to value: were it always the same, each sign
// would meet only every other element of a tile.
KVPROOF_HD constexpr bool turns_sign(std::int64_t number) { return ((number ^ (number >> 1)) & 1) != 0; }

// `group` is the one that holds tile number `number`, or the last.
KVPROOF_HD constexpr TilePlan codes_tile(const DomainView& view, std::int64_t number, const CodeGroup& group,
                                         int tile_values) {
  TilePlan plan;
  const bool negative = ((number ^ (number / tile_values)) & 1) != 0;  // at each place of both signs
  plan.pattern = group.amax | (negative ? patterns_of(view.type).sign : 0U);
  plan.place = static_cast<int>(number % tile_values);
  plan.company = Company::enumerated;
  plan.first = (number - group.first_tile) * (tile_values - 1);
  plan.group_pairs = group.pairs;
  const std::int64_t left = group.pairs - plan.first;
  plan.pairs = left <= 0 ? 0 : static_cast<int>(left < tile_values - 1 ? left : tile_values - 1);
  return plan;
}

KVPROOF_HD constexpr TilePlan non_finite_tile(const DomainView& view, std::int64_t row, int tile, int tile_values) {
  const Patterns patterns = patterns_of(view.type);
  const int companies = plain_companies + view.special_count;
  const auto which = static_cast<int>(row / tile_values);
  const int company = which % companies;
  TilePlan plan;
  plan.pattern = view.specials[which / companies];
  plan.place = static_cast<int>((row + 9 * tile) % tile_values);
  plan.pairs = 1;
  switch (company) {
    case 0:
      plan.below = patterns.one;
      break;
    case 1:  // zeros of both signs
      break;
    case 2:
      plan.below = patterns.infinity - 1;
      break;
    case 3:  // below every floor
      plan.below = patterns.one - 14 * patterns.binade;
      break;
    case 4:
      plan.company = Company::same;
      break;
    default:
      plan.second = view.specials[company - plain_companies];
      plan.second_place = (plan.place + 1 + static_cast<int>(row % (tile_values - 1))) % tile_values;
      plan.below = patterns.one;
      break;
  }
  return plan;
}

KVPROOF_HD constexpr TilePlan positions_tile(const DomainView& view, std::int64_t row, int tile, int tile_values) {
  const Patterns p = patterns_of(view.type);
  const std::uint32_t edge = p.one + p.binade / 4 * 3;  // 1.75, on a binade edge of the scale
  const auto which = static_cast<int>(row % position_samples);
  // Ordinary, on and past the edge, the largest, small codes, subnormal values; the last two become zeros.
  const std::uint32_t amaxes[position_samples] = {
      p.one, edge, edge + 1, p.infinity - 1, p.one - 5 * p.binade + 7, p.binade / 2, edge, p.infinity - 1};
  const std::uint32_t others[position_samples] = {p.one - 1,
                                                  p.one + p.binade / 4,
                                                  p.one - 3 * p.binade + 5,
                                                  p.infinity - 2 * p.binade,
                                                  p.one - 13 * p.binade - 1,
                                                  p.binade / 2,
                                                  0,
                                                  1};
  const std::int64_t pair = row / position_samples;
  TilePlan plan;
  plan.place = static_cast<int>((pair + 9 * tile) % tile_values);
  plan.second_place = (plan.place + 1 + static_cast<int>(pair / tile_values)) % tile_values;
  plan.pattern = amaxes[which] | ((plan.second_place & 1) != 0 ? p.sign : 0U);
  plan.second = others[which] | (((plan.place ^ plan.second_place) & 1) != 0 ? p.sign : 0U);
  plan.below = amaxes[which];
  plan.pairs = 1;
  return plan;
}

// The plan of one tile. `group` is looked at where x are enumerated.
KVPROOF_HD constexpr TilePlan tile_plan(const DomainView& view, std::int64_t row, int tile, const CodeGroup* group) {
  const LayoutShape shape = layout_shape(view.layout);
  TilePlan plan;
  switch (view.domain) {
    case Domain::scales:
      plan = scales_tile(view, row, tile, shape.tile);
      break;
    case Domain::codes:
    case Domain::pairs:
      plan = codes_tile(view, row * shape.tiles + tile, *group, shape.tile);
      break;
    case Domain::non_finite:
      plan = non_finite_tile(view, row, tile, shape.tile);
      break;
    case Domain::positions:
      plan = positions_tile(view, row, tile, shape.tile);
      break;
    case Domain::rope:
      plan.below =
          scattered(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(tile)) % patterns_of(view.type).infinity;
      plan.pattern = plan.below;
      break;
  }
  plan.seed = static_cast<std::uint32_t>(row * 8 + tile);
  return plan;
}

// Element `i` of a planned tile.
KVPROOF_HD constexpr std::uint32_t tile_element(const TilePlan& plan, std::uint32_t sign, int tile_values, int i) {
  if (i == plan.place || plan.company == Company::same) {
    return plan.pattern;
  }
  if (i == plan.second_place) {
    return plan.second;
  }
  if (plan.company == Company::enumerated) {
    std::int64_t x = plan.first + ((i - plan.place - 1) & (tile_values - 1));
    if (x >= plan.group_pairs) {
      x %= plan.group_pairs;
    }
    return static_cast<std::uint32_t>(x >> 1) | (turns_sign(x) ? sign : 0U);
  }
  return varied_pattern(scattered(plan.seed, static_cast<std::uint32_t>(i)), plan.below + 1, sign);
}

// How many patterns Domain::rope puts at each place. An fp32 rope is rounded: each upper half comes with the lower halves
// around a tie.
KVPROOF_HD constexpr std::int64_t rope_patterns(ElementType type) {
  return type == ElementType::fp32 ? std::int64_t{65536} * fp32_rope_lower_halves : 65536;
}

// Rope value `i` of a row, and whether it counts.
struct RopeElement {
  std::uint32_t pattern;
  bool counts;
};

KVPROOF_HD constexpr RopeElement rope_element(const DomainView& view, std::int64_t row, int i) {
  const Patterns patterns = patterns_of(view.type);
  if (view.domain != Domain::rope) {
    return {varied_pattern(scattered(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(1000 + i)),
                           patterns.infinity, patterns.sign),
            false};
  }
  auto pattern = static_cast<std::uint32_t>((row + i * std::int64_t{1021}) % rope_patterns(view.type));
  if (view.type == ElementType::fp32) {
    constexpr std::uint32_t lower[fp32_rope_lower_halves] = {0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF};
    pattern = (pattern / fp32_rope_lower_halves) << 16 | lower[pattern % fp32_rope_lower_halves];
  }
  const bool nan = (pattern & ~patterns.sign) > patterns.infinity;
  return nan && !view.rope_nan ? RopeElement{0, false} : RopeElement{pattern, true};
}

// The group that holds tile number `number`; for a tile beyond the last group, the last.
KVPROOF_HD constexpr std::int64_t group_of(const DomainView& view, std::int64_t number) {
  std::int64_t low = 0;
  std::int64_t high = view.group_count;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (view.groups[middle].first_tile <= number) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The same, from a group at or before it.
KVPROOF_HD constexpr std::int64_t group_from(const DomainView& view, std::int64_t group, std::int64_t number) {
  while (group + 1 < view.group_count && view.groups[group + 1].first_tile <= number) {
    ++group;
  }
  return group;
}

}  // namespace kvproof
