#include "kvproof/fuzz/case_maker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "kvproof/reference/locate.h"

namespace kvproof::fuzz {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr std::int64_t two_31 = std::int64_t{1} << 31;
constexpr std::int64_t two_32 = std::int64_t{1} << 32;

// Production's own, then sizes that are no power of two. The first is the cheapest.
constexpr std::array<std::int64_t, 16> any_page_sizes{2, 1, 64, 3, 256, 5, 7, 16, 100, 128, 2, 64, 4, 257, 32, 512};
// Choices from here on are 4, 8, 12, ..., 256, for a kernel with a path of its own for one of them.
constexpr int first_multiple = 192;

template <class List>
auto chosen(const List& list, std::uint8_t choice) {
  return list[choice % list.size()];
}

std::int64_t dense_page_stride(const FuzzCall& call, const StoreShape& s) {
  const std::int64_t smallest = smallest_page_stride(s.layout, s.page_size);
  const std::int64_t production = production_page_stride(s.layout, s.page_size);
  switch (call.page_stride) {
    case PageStride::smallest:
      return smallest;
    case PageStride::smallest_by_4:
      return smallest + 4 * (call.page_stride_number % 64);
    case PageStride::smallest_by_16:
      return (smallest + 15) / 16 * 16 + 16 * (call.page_stride_number % 64);
    case PageStride::production_more:
      return production + 576 * (1 + call.page_stride_number % 4);
    default:  // far ones where pools may not be far
      return production;
  }
}

std::int64_t row_stride(const FuzzCall& call, const StoreShape& s) {
  switch (call.row_stride) {
    case RowStride::by_16:
      return s.row_bytes() + 16 * (1 + call.row_stride_number % 16);
    case RowStride::by_element:
      return s.row_bytes() + element_bytes(s.input_type) * (1 + call.row_stride_number % 7);
    case RowStride::packed:
      break;
  }
  return s.row_bytes();
}

// A slot of the page that lies across `boundary` bytes, or of one beside it.
std::int64_t slot_across(std::int64_t boundary, std::uint16_t number, const StoreShape& s) {
  const std::int64_t page = std::clamp<std::int64_t>(boundary / s.page_stride + number % 3 - 1, 0, s.pages - 1);
  return page * s.page_size + number / 3 % s.page_size;
}

std::int64_t index_of(const FuzzToken& token, const StoreShape& s, const std::vector<std::int64_t>& earlier) {
  const std::int64_t number = token.number;
  const std::int64_t slot = number % s.capacity();
  switch (token.index) {
    case IndexClass::zero:
      return 0;
    case IndexClass::slot:
      return slot;
    case IndexClass::page_first:
      return number % s.pages * s.page_size;
    case IndexClass::page_last:
      return (number % s.pages + 1) * s.page_size - 1;
    case IndexClass::last:
      return s.capacity() - 1;
    case IndexClass::again:
      return earlier.empty() ? slot : earlier[static_cast<std::size_t>(number) % earlier.size()];
    case IndexClass::across_2_31:
      return slot_across(two_31, token.number, s);
    case IndexClass::across_2_32:
      return slot_across(two_32, token.number, s);
    case IndexClass::minus_one:
      return -1;
    case IndexClass::below:
      return -2 - number % (2 * s.page_size);
    case IndexClass::capacity:
      return s.capacity();
    case IndexClass::beyond:
      return s.capacity() + 1 + number % (2 * s.page_size);
    case IndexClass::int32_smallest:
      return std::numeric_limits<std::int32_t>::min();
    case IndexClass::int32_largest:
      return std::numeric_limits<std::int32_t>::max();
    case IndexClass::two_31:
      return two_31;
    case IndexClass::alias_above:
      return two_32 + slot;
    case IndexClass::alias_below:
      return slot - two_32;
    case IndexClass::int64_smallest:
      return std::numeric_limits<std::int64_t>::min();
    case IndexClass::int64_largest:
      break;
  }
  return std::numeric_limits<std::int64_t>::max();
}

bool is_extreme(IndexClass index) { return index >= IndexClass::int32_smallest; }

}  // namespace

CaseMaker::CaseMaker(const Subject& subject, const CaseLimits& limits)
    : subject_(subject), limits_(limits), bank_(subject.dialect) {}

void CaseMaker::make(const FuzzCall& call, Case& c) {
  shape(call, c.shape);
  indices(call, c);
  c.shape.tokens = static_cast<std::int64_t>(c.indices.size());
  c.poison_seed = call.poison;
  input(call, c);
}

void CaseMaker::shape(const FuzzCall& call, StoreShape& s) const {
  s.layout = subject_.dialect.layout;
  s.input_type = chosen(subject_.input_types, call.input_type);
  s.index_type = chosen(subject_.index_types, call.index_type);
  s.fp8 = chosen(subject_.fp8_types, call.fp8);
  s.page_size = page_size(call);
  s.row_stride = row_stride(call, s);
  if (limits_.far_pools && is_far(call.page_stride)) {
    far_pages(call, s);
    return;
  }
  s.page_stride = dense_page_stride(call, s);
  const std::int64_t most = std::clamp<std::int64_t>(limits_.largest_pool / s.page_stride, 1, 12);
  s.pages = 1 + call.pages % most;
}

std::int64_t CaseMaker::page_size(const FuzzCall& call) const {
  if (!subject_.page_sizes.empty()) {
    return chosen(subject_.page_sizes, call.page_size);
  }
  const std::int64_t size =
      call.page_size < first_multiple ? chosen(any_page_sizes, call.page_size) : 4 * (call.page_size - first_multiple + 1);
  return size <= limits_.largest_page_size ? size : any_page_sizes.front();
}

void CaseMaker::far_pages(const FuzzCall& call, StoreShape& s) const {
  const std::int64_t smallest = production_page_stride(s.layout, s.page_size);
  const std::int64_t number = call.page_stride_number;
  const std::int64_t boundary = 2 * gibibyte << call.pages % 3;
  std::int64_t bytes = 9 * gibibyte;
  switch (call.page_stride) {
    case PageStride::page_across: {
      const std::int64_t page = 1 + boundary / (2 * gibibyte) + number % 16;
      s.page_stride = std::max(smallest, (boundary - (1 + number / 16 % smallest)) / page / 16 * 16);
      bytes = (page + 1) * s.page_stride;
      break;
    }
    case PageStride::gibibyte:
      s.page_stride = gibibyte + 576 * (number % 1024);
      break;
    case PageStride::two_gibibytes:
      s.page_stride = 2 * gibibyte + 576 * (number % 1024);
      break;
    default:
      s.page_stride = std::max(smallest, std::int64_t{576} * (1700 + number % 512));
      bytes = (3 + call.pages % 7) * gibibyte;
      break;
  }
  // A dialect of 32-bit offsets promises nothing beyond their reach.
  const Width width = subject_.dialect.offset_width;
  if (width != Width::bits64) {
    bytes = std::min(bytes, width == Width::int32 ? two_31 : two_32);
  }
  s.page_stride = std::min(s.page_stride, bytes);
  s.pages = std::max<std::int64_t>(1, bytes / s.page_stride);
}

void CaseMaker::indices(const FuzzCall& call, Case& c) const {
  c.indices.clear();
  for (const FuzzToken& token : call.tokens) {
    FuzzToken taken = token;
    if (is_extreme(token.index) && !limits_.extreme_indices) {
      taken.index = IndexClass::below;
    }
    c.indices.push_back(contracted(index_of(taken, c.shape, c.indices), c.shape));
  }
  if (subject_.duplicates == Duplicates::forbidden) {
    without_duplicates(c);
  }
}

// The index itself where its type holds it and the dialect has an answer for it, else a slot.
std::int64_t CaseMaker::contracted(std::int64_t index, const StoreShape& s) const {
  if (s.index_type == IndexType::int32) {
    index = static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(index)));
  }
  if (locate(index, s.pages, s.page_size, subject_.dialect).fate != Fate::outside_contract) {
    return index;
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(index) % static_cast<std::uint64_t>(s.capacity()));
}

// A kernel that forbids duplicates is never handed any: a later token takes the next free slot, or is left out.
void CaseMaker::without_duplicates(Case& c) const {
  const StoreShape& s = c.shape;
  std::vector<std::int64_t> taken;
  const auto is_taken = [&](std::int64_t slot) { return std::find(taken.begin(), taken.end(), slot) != taken.end(); };
  std::erase_if(c.indices, [&](std::int64_t& index) {
    const Location at = locate(index, s.pages, s.page_size, subject_.dialect);
    if (at.fate != Fate::stored) {
      return false;
    }
    const std::int64_t wanted = at.page * s.page_size + at.slot;
    std::int64_t slot = wanted;
    for (std::int64_t tries = 1; is_taken(slot) && tries < s.capacity(); ++tries) {
      slot = (slot + 1) % s.capacity();
    }
    if (is_taken(slot)) {
      return true;
    }
    taken.push_back(slot);
    index = slot == wanted ? index : slot;
    return false;
  });
}

void CaseMaker::input(const FuzzCall& call, Case& c) {
  const StoreShape& s = c.shape;
  // The bytes between rows are nobody's values: a kernel that reads them is wrong.
  c.input.assign(static_cast<std::size_t>(s.input_bytes()), 0xA5);
  for (std::size_t token = 0; token < c.indices.size(); ++token) {
    const BankRow& from = row(call, token, s);
    std::memcpy(c.input.data() + static_cast<std::int64_t>(token) * s.row_stride, from.input.data(), from.input.size());
  }
}

}  // namespace kvproof::fuzz
