// A row of a domain into host memory.
#pragma once

#include <bit>
#include <cstring>

#include "kvproof/properties/proof_rows.h"

namespace kvproof {

static_assert(std::endian::native == std::endian::little, "elements are written as the machine has them");

template <class Element, int tile_values, Company company>
void fill_tile(const TilePlan& plan, std::uint32_t sign, std::uint8_t* to) {
  Element elements[tile_values];
  TilePlan known = plan;
  known.company = company;
  for (int i = 0; i < tile_values; ++i) {
    elements[i] = static_cast<Element>(tile_element(known, sign, tile_values, i));
  }
  std::memcpy(to, elements, sizeof elements);
}

template <class Element, int tile_values>
void fill_tile(const TilePlan& plan, std::uint32_t sign, std::uint8_t* to) {
  switch (plan.company) {
    case Company::varied:
      return fill_tile<Element, tile_values, Company::varied>(plan, sign, to);
    case Company::enumerated:
      return fill_tile<Element, tile_values, Company::enumerated>(plan, sign, to);
    case Company::same:
      return fill_tile<Element, tile_values, Company::same>(plan, sign, to);
  }
}

template <class Element, Layout layout>
std::int64_t fill_row_of(const DomainView& view, std::int64_t row, std::int64_t& group, std::uint8_t* to) {
  constexpr LayoutShape shape = layout_shape(layout);
  const std::uint32_t sign = patterns_of(view.type).sign;
  std::int64_t pairs = 0;
  for (int tile = 0; tile < shape.tiles; ++tile) {
    if (enumerates(view.domain)) {
      group = group_from(view, group, row * shape.tiles + tile);
    }
    const TilePlan plan = tile_plan(view, row, tile, view.groups + group);
    pairs += plan.pairs;
    fill_tile<Element, shape.tile>(plan, sign, to + static_cast<std::size_t>(tile) * shape.tile * sizeof(Element));
  }
  for (int i = 0; i < shape.rope; ++i) {
    const RopeElement rope = rope_element(view, row, i);
    pairs += rope.counts ? 1 : 0;
    const auto element = static_cast<Element>(rope.pattern);
    std::memcpy(to + static_cast<std::size_t>(shape.codes + i) * sizeof element, &element, sizeof element);
  }
  return pairs;
}

// Writes the row and returns its pairs. `group` is the group of an earlier tile or of this row's first, and moves on.
inline std::int64_t fill_row(const DomainView& view, std::int64_t row, std::int64_t& group, std::uint8_t* to) {
  const bool wide = view.type == ElementType::fp32;
  if (view.layout == Layout::flashmla) {
    return wide ? fill_row_of<std::uint32_t, Layout::flashmla>(view, row, group, to)
                : fill_row_of<std::uint16_t, Layout::flashmla>(view, row, group, to);
  }
  return wide ? fill_row_of<std::uint32_t, Layout::indexer>(view, row, group, to)
              : fill_row_of<std::uint16_t, Layout::indexer>(view, row, group, to);
}

}  // namespace kvproof
