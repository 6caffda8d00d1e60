#include "stray_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "kvproof/reference/model.h"

namespace kvproof {
namespace {

constexpr std::size_t most_runs = 64;  // looked at; more strays are more of the same
constexpr std::int64_t most_tokens = 1024;
constexpr std::int64_t hidden_start = 3;  // bytes at a unit's start that may equal what was there before

struct Held {
  std::int32_t token;
  std::int32_t tile;
  std::int64_t bytes;
};

bool may_hold_a_row(const WrongByte& wrong) {
  return wrong.wrong == Wrong::stray &&
         (wrong.area == Area::pool || wrong.area == Area::guard_before_pool || wrong.area == Area::guard_after_pool);
}

// The bytes [start, start + unit) against a unit of a row. What is not among the strays holds what was there before and says
// nothing, but most of the unit must be there.
bool holds(std::span<const WrongByte> strays, std::int64_t start, std::span<const std::uint8_t> unit) {
  std::size_t seen = 0;
  for (const WrongByte& stray : strays) {
    const std::int64_t at = stray.offset - start;
    if (at < 0) {
      continue;
    }
    if (at >= static_cast<std::int64_t>(unit.size())) {
      break;
    }
    if (stray.found != unit[static_cast<std::size_t>(at)]) {
      return false;
    }
    ++seen;
  }
  return seen * 8 >= unit.size() * 7;
}

// The rows of all tokens: one that must not be stored at all is the likeliest to have gone astray.
std::vector<RowImage> rows_of(const Expectation& expected, const std::vector<std::uint8_t>& input) {
  const StoreShape& shape = expected.shape;
  std::vector<RowImage> rows(static_cast<std::size_t>(std::min(shape.tokens, most_tokens)));
  for (std::size_t token = 0; token < rows.size(); ++token) {
    model::encode_row(input.data() + static_cast<std::int64_t>(token) * shape.row_stride, shape.input_type, expected.dialect,
                      shape.fp8, &rows[token]);
  }
  return rows;
}

std::optional<Held> unit_at(const LayoutShape& layout, std::span<const RowImage> rows, std::span<const WrongByte> strays,
                            std::int64_t start) {
  for (std::size_t token = 0; token < rows.size(); ++token) {
    const RowImage& row = rows[token];
    for (int tile = 0; tile <= layout.tiles; ++tile) {
      const bool rope = tile == layout.tiles;
      const auto size = static_cast<std::size_t>(rope ? 2 * layout.rope : layout.tile);
      const std::span unit(row.data + (rope ? layout.codes : tile * layout.tile), size);
      // One byte over and over is any kernel's favourite, and many a row's.
      const bool says_nothing = std::all_of(unit.begin(), unit.end(), [&](std::uint8_t byte) { return byte == unit[0]; });
      if (!says_nothing && holds(strays, start, unit)) {
        return Held{static_cast<std::int32_t>(token), tile, static_cast<std::int64_t>(size)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void name_stray_rows(const Expectation& expected, const std::vector<std::uint8_t>& input, std::vector<WrongByte>& wrong) {
  if (std::none_of(wrong.begin(), wrong.end(), may_hold_a_row)) {
    return;
  }
  const LayoutShape layout = layout_shape(expected.shape.layout);
  const std::vector<RowImage> rows = rows_of(expected, input);
  std::size_t runs = 0;
  for (std::size_t i = 0; i < wrong.size() && runs < most_runs;) {
    if (!may_hold_a_row(wrong[i])) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < wrong.size() && may_hold_a_row(wrong[end]) && wrong[end].area == wrong[i].area &&
           wrong[end].offset - wrong[end - 1].offset <= hidden_start + 1) {
      ++end;
    }
    ++runs;
    while (i < end) {
      const std::span strays(wrong.data() + i, end - i);
      std::optional<Held> held;
      std::int64_t start = strays.front().offset;
      for (std::int64_t hidden = 0; hidden <= hidden_start && !held; ++hidden) {
        start = strays.front().offset - hidden;
        held = unit_at(layout, rows, strays, start);
      }
      if (!held) {
        // The rest of the run may be another row; a unit further on begins where a tile would.
        i = static_cast<std::size_t>(strays.size() > 64 ? i + 1 : end);
        if (++runs >= most_runs) {
          return;
        }
        continue;
      }
      for (; i < end && wrong[i].offset < start + held->bytes; ++i) {
        wrong[i].holds_token = held->token;
        wrong[i].holds_tile = held->tile;
      }
    }
  }
}

}  // namespace kvproof
