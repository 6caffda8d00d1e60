#include "kvproof/fuzz/join.h"

#include <algorithm>
#include <cstddef>

#include "kvproof/reference/locate.h"

namespace kvproof::fuzz {

FuzzCall in_shape_of(const FuzzCall& leader, FuzzCall call) {
  FuzzCall in_shape = leader;
  in_shape.pages = call.pages;
  in_shape.tokens = std::move(call.tokens);
  return in_shape;
}

Case joined(std::span<const Case> cases, const Dialect& dialect) {
  Case all;
  all.shape = cases.front().shape;
  all.poison_seed = cases.front().poison_seed;
  all.shape.tokens = 0;
  all.shape.pages = 0;
  for (const Case& c : cases) {
    all.shape.tokens += c.shape.tokens;
    all.shape.pages += c.shape.pages;
  }
  all.input.resize(static_cast<std::size_t>(all.shape.input_bytes()));
  all.indices.reserve(static_cast<std::size_t>(all.shape.tokens));
  std::int64_t first_slot = 0;
  for (const Case& c : cases) {
    const auto row = static_cast<std::ptrdiff_t>(all.indices.size()) * all.shape.row_stride;
    std::copy(c.input.begin(), c.input.end(), all.input.begin() + row);
    const std::int64_t capacity = c.shape.capacity();
    for (const std::int64_t index : c.indices) {
      const bool names_slot = locate(index, c.shape.pages, c.shape.page_size, dialect).fate == Fate::stored;
      const bool just_beyond = index >= capacity && index < std::max(capacity + 2 * c.shape.page_size, all.shape.capacity());
      all.indices.push_back(names_slot ? first_slot + index
                                       : (just_beyond ? index - capacity + all.shape.capacity() : index));
    }
    first_slot += capacity;
  }
  return all;
}

}  // namespace kvproof::fuzz
