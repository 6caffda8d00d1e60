// From an index to the page and slot it names, or to nothing.
#pragma once

#include <cstdint>

#include "kvproof/reference/dialect.h"

namespace kvproof {

enum class IndexType : std::uint32_t { int32 = 0, int64 = 1 };

KVPROOF_HD constexpr int index_bytes(IndexType type) { return type == IndexType::int32 ? 4 : 8; }

// Index `i` of an index array, sign-extended. Little-endian, no alignment asked.
KVPROOF_HD inline std::int64_t index_at(const std::uint8_t* indices, IndexType type, std::int64_t i) {
  const std::uint8_t* at = indices + i * index_bytes(type);
  std::uint64_t bits = 0;
  for (int byte = 0; byte < index_bytes(type); ++byte) {
    bits |= static_cast<std::uint64_t>(at[byte]) << (8 * byte);
  }
  return type == IndexType::int32 ? static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)))
                                  : static_cast<std::int64_t>(bits);
}

// `value` as a register of `width` holds it.
KVPROOF_HD constexpr std::int64_t narrow(std::int64_t value, Width width) {
  switch (width) {
    case Width::int32:
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value)));
    case Width::uint32:
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) & 0xFFFFFFFFU);
    case Width::bits64:
      break;
  }
  return value;
}

enum class Fate : std::uint32_t {
  stored,           // the token's row is written
  skipped,          // nothing is written
  outside_contract  // the dialect promises nothing; an unguarded port stores at `page`, `slot` all the same
};

struct Location {
  Fate fate;
  std::int64_t page;  // of a stored or unguarded token
  std::int64_t slot;  // negative only for an unguarded port that truncates
};

// `pages` and `page_size` are positive. Page and slot are given for every index, whatever its fate.
KVPROOF_HD constexpr Location locate(std::int64_t raw_index, std::int64_t pages, std::int64_t page_size,
                                     const Dialect& dialect) {
  const std::int64_t index = narrow(raw_index, dialect.index_width);
  std::int64_t page = index / page_size;
  std::int64_t slot = index % page_size;
  if (slot < 0 && dialect.division == Division::floor) {
    page -= 1;
    slot += page_size;
  }
  const bool inside = index >= 0 && page < pages;
  Fate fate = inside ? Fate::stored : Fate::outside_contract;
  switch (dialect.invalid) {
    case InvalidIndex::outside:
      fate = inside ? Fate::stored : Fate::skipped;
      break;
    case InvalidIndex::minus_one:
      fate = index == -1 ? Fate::skipped : fate;
      break;
    case InvalidIndex::negative:
      fate = index < 0 ? Fate::skipped : fate;
      break;
    case InvalidIndex::non_positive:
      fate = index <= 0 ? Fate::skipped : fate;
      break;
    case InvalidIndex::precondition:
    case InvalidIndex::unguarded:
    case InvalidIndex::trap:
      break;
  }
  return {fate, page, slot};
}

// Byte offset of byte `within` of a page from the pool's base, as the dialect's port computes it: an offset narrower than 64
// bits counts elements of the pointer's type, `view` bytes each (1 for codes and UE8M0 bytes, 2 for rope, 4 for fp32
// scales), so each plane wraps at its own place. page * page_stride + within must fit in 64 bits.
KVPROOF_HD constexpr std::int64_t byte_offset(std::int64_t page, std::int64_t page_stride, std::int64_t within, int view,
                                              Width offset_width) {
  const std::int64_t sum = page * page_stride + within;
  if (offset_width == Width::bits64) {
    return sum;
  }
  std::int64_t rest = sum % view;
  rest += rest < 0 ? view : 0;
  return narrow((sum - rest) / view, offset_width) * view + rest;
}

}  // namespace kvproof
