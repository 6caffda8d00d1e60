// Index arrays as production makes them, and as it should not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kvproof/device/subject.h"
#include "kvproof/properties/draw.h"

namespace kvproof {

enum class IndexPattern : std::uint32_t {
  in_order,        // 0, 1, 2, ...: a dense prefill
  permutation,     // distinct slots anywhere in the pool
  page_edges,      // first and last slots of pages, first and last slot of the pool
  batching,        // a continuous-batching step: prefill chunks over scattered pages, decode tokens, pages freed and reused
  padded_to_zero,  // a graph batch: real tokens, then padding rows that all carry index 0
  padded_to_minus_one,  // a graph batch whose padding carries -1
  invalid,              // indices the dialect skips, among valid ones
  duplicates            // several tokens for few slots
};

inline constexpr std::size_t index_patterns = 8;

std::string_view name_of(IndexPattern pattern);

using IndexWeights = std::array<int, index_patterns>;

inline constexpr IndexWeights balanced_indices{1, 3, 2, 3, 2, 2, 3, 2};

// Draws `tokens` indices for a pool of `pages` pages. Patterns that the subject's dialect or promise has no place for give
// way to a permutation; without room for distinct slots the batch is cut, so the result may be shorter. With `extremes_of`,
// invalid indices reach to the ends of that type and to where 32 bits of them name a slot: for a kernel in a process of its
// own, as one that stores them all the same writes anywhere.
std::vector<std::int64_t> draw_indices(Draw& draw, IndexPattern pattern, const Subject& subject, std::int64_t tokens,
                                       std::int64_t pages, std::int64_t page_size,
                                       std::optional<IndexType> extremes_of = std::nullopt);

}  // namespace kvproof
