#include "kvproof/oracle/place.h"

#include <fmt/format.h>

#include "kvproof/device/error.h"

namespace kvproof::oracle {
namespace {

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

// `value` less the multiple of 2^32 that brings it into the width's range.
std::int64_t wrapped(std::int64_t value, Width width) {
  constexpr std::int64_t turn = std::int64_t{1} << 32;
  const std::int64_t low = value - floor_quotient(value, turn) * turn;
  switch (width) {
    case Width::int32:
      return low >= turn / 2 ? low - turn : low;
    case Width::uint32:
      return low;
    case Width::bits64:
      break;
  }
  return value;
}

bool skips(InvalidIndex policy, std::int64_t index, std::int64_t capacity) {
  switch (policy) {
    case InvalidIndex::minus_one:
      return index == -1;
    case InvalidIndex::negative:
      return index < 0;
    case InvalidIndex::non_positive:
      return index <= 0;
    case InvalidIndex::outside:
      return index < 0 || index >= capacity;
    case InvalidIndex::precondition:
    case InvalidIndex::unguarded:
    case InvalidIndex::trap:
      break;
  }
  return false;
}

}  // namespace

std::optional<Slot> slot_of(std::int64_t index, const StoreShape& shape, const Dialect& dialect) {
  const std::int64_t capacity = shape.pages * shape.page_size;
  const std::int64_t held = wrapped(index, dialect.index_width);
  if (skips(dialect.invalid, held, capacity)) {
    return std::nullopt;
  }
  if (held < 0 || held >= capacity) {
    throw BadInput(fmt::format("index {} is outside the dialect's contract, expected 0 to {}", index, capacity - 1));
  }
  return Slot{held / shape.page_size, held - held / shape.page_size * shape.page_size};
}

std::vector<Piece> pieces(const Span& span, std::int64_t page, const StoreShape& shape, Width offset_width) {
  std::vector<Piece> all;
  for (int i = 0; i < span.count; ++i) {
    const std::int64_t address = page * shape.page_stride + span.within + i;
    const std::int64_t element = floor_quotient(address, span.view);
    const std::int64_t offset = wrapped(element, offset_width) * span.view + (address - element * span.view);
    if (!all.empty() && all.back().offset + all.back().count == offset) {
      ++all.back().count;
    } else {
      all.push_back({offset, i, 1});
    }
  }
  return all;
}

}  // namespace kvproof::oracle
