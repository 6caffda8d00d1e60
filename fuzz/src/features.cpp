#include "kvproof/fuzz/features.h"

#include <algorithm>
#include <bit>

#include "kvproof/reference/locate.h"
#include "kvproof/reference/names.h"

namespace kvproof::fuzz {
namespace {

constexpr std::size_t layouts = Names<Layout>::values.size();
constexpr std::size_t element_types = Names<ElementType>::values.size();
constexpr std::size_t fp8_types = Names<Fp8>::values.size();
constexpr std::size_t index_types = Names<IndexType>::values.size();
constexpr std::size_t fates = 3;
constexpr std::size_t page_size_kinds = 4;
constexpr std::size_t slot_places = 9;
constexpr std::size_t amounts = 6;

// One family of features after another, each with room for all of its combinations.
constexpr std::size_t indices_at = 0;
constexpr std::size_t fates_at = indices_at + index_classes * layouts * page_strides * 2;
constexpr std::size_t values_at = fates_at + index_classes * fates * index_types * page_size_kinds;
constexpr std::size_t places_at = values_at + value_classes * layouts * element_types * fp8_types;
constexpr std::size_t duplicates_at = places_at + slot_places * page_strides;
constexpr std::size_t rows_at = duplicates_at + amounts * amounts * layouts;
constexpr std::size_t pairs_at = rows_at + row_strides * element_types * layouts;
constexpr std::size_t features_end = pairs_at + index_classes * index_classes;
static_assert(features_end <= feature_count);

template <class Choice>
constexpr std::size_t at(Choice choice) {
  return static_cast<std::size_t>(choice);
}

std::size_t page_size_kind(std::int64_t page_size) {
  if (page_size == 1) {
    return 0;
  }
  return !std::has_single_bit(static_cast<std::uint64_t>(page_size)) ? 1 : (page_size < 64 ? 2 : 3);
}

// First, inner and last, of pages in the pool and of slots in the page.
std::size_t edge(std::int64_t position, std::int64_t count) { return position == 0 ? 0 : (position == count - 1 ? 2 : 1); }

// 0, 1, 2, up to 8, up to 16, more.
std::size_t amount(std::size_t count) { return count <= 2 ? count : (count <= 8 ? 3 : (count <= 16 ? 4 : 5)); }

std::size_t most_alike(const std::vector<std::int64_t>& indices) {
  std::int64_t most = 0;
  for (const std::int64_t index : indices) {
    most = std::max<std::int64_t>(most, std::count(indices.begin(), indices.end(), index));
  }
  return static_cast<std::size_t>(most);
}

}  // namespace

void features_of(const FuzzCall& call, const Case& c, const Dialect& dialect, std::vector<std::uint16_t>& features) {
  const StoreShape& s = c.shape;
  const std::size_t layout = at(s.layout);
  const std::size_t type = at(s.input_type);
  const std::size_t stride = at(call.page_stride);
  const std::size_t aligned = s.page_stride % 16 == 0 ? 1 : 0;
  features.clear();
  const auto add = [&](std::size_t feature) { features.push_back(static_cast<std::uint16_t>(feature)); };
  for (std::size_t i = 0; i < c.indices.size(); ++i) {
    const FuzzToken& token = call.tokens[i];
    const std::size_t index = at(token.index);
    const Location where = locate(c.indices[i], s.pages, s.page_size, dialect);
    add(indices_at + ((index * layouts + layout) * page_strides + stride) * 2 + aligned);
    add(fates_at + ((index * fates + at(where.fate)) * index_types + at(s.index_type)) * page_size_kinds +
        page_size_kind(s.page_size));
    add(values_at + ((at(token.values) * layouts + layout) * element_types + type) * fp8_types + at(s.fp8));
    if (where.fate == Fate::stored) {
      add(places_at + (edge(where.page, s.pages) * 3 + edge(where.slot, s.page_size)) * page_strides + stride);
    }
    if (i > 0) {
      add(pairs_at + at(call.tokens[i - 1].index) * index_classes + index);
    }
  }
  add(duplicates_at + (amount(most_alike(c.indices)) * amounts + amount(c.indices.size())) * layouts + layout);
  add(rows_at + (at(call.row_stride) * element_types + type) * layouts + layout);
}

}  // namespace kvproof::fuzz
