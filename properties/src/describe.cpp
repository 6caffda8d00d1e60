#include "kvproof/properties/describe.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "kvproof/reference/fp8_to_f32.h"
#include "kvproof/reference/names.h"
#include "kvproof/reference/ue8m0.h"

namespace kvproof {
namespace {

float value_of(F32 bits) { return std::bit_cast<float>(bits); }

std::string region_of(const WrongByte& wrong) {
  return std::string(wrong.area == Area::pool ? name_of(wrong.place.region) : name_of(wrong.area));
}

// Where mirrors are beyond telling apart, the distance is told modulo the mirror.
std::string at_distance(const WrongByte& wrong, std::int64_t bytes, const char* direction) {
  const std::string where = fmt::format("{}, {} bytes {}", name_of(wrong.area), bytes, direction);
  return wrong.modulo == 0 ? where : fmt::format("{}, modulo {} MiB", where, wrong.modulo >> 20);
}

// Whose bytes a stray's are.
std::string holding(const WrongByte& wrong, const StoreShape& shape) {
  if (wrong.holds_token < 0) {
    return {};
  }
  return wrong.holds_tile == layout_shape(shape.layout).tiles
             ? fmt::format(", holds rope of token {}", wrong.holds_token)
             : fmt::format(", holds codes of tile {} of token {}", wrong.holds_tile, wrong.holds_token);
}

// A byte with the value it stands for; multi-byte units are told byte by byte.
std::string with_value(std::uint8_t byte, const WrongByte& wrong, const StoreShape& shape) {
  if (wrong.area == Area::pool && wrong.place.region == Region::code) {
    return fmt::format("0x{:02x} ({})", byte, value_of(fp8_to_f32(byte, shape.fp8)));
  }
  if (wrong.area == Area::pool && wrong.place.region == Region::scale && shape.layout == Layout::flashmla) {
    return byte == 255 ? std::string("0xff (NaN)") : fmt::format("0x{:02x} (2^{})", byte, static_cast<int>(byte) - 127);
  }
  return fmt::format("0x{:02x}", byte);
}

}  // namespace

std::string describe_place(const WrongByte& wrong, const StoreShape& shape) {
  const PagePlace& at = wrong.place;
  switch (wrong.area) {
    case Area::pool:
      switch (at.region) {
        case Region::code:
          return fmt::format("code of page {} slot {} tile {} element {}", wrong.page, at.slot, at.tile, at.element);
        case Region::rope:
          return fmt::format("rope of page {} slot {} value {} byte {}", wrong.page, at.slot, at.element, at.byte);
        case Region::scale:
          return shape.layout == Layout::flashmla
                     ? fmt::format("scale of page {} slot {} tile {}", wrong.page, at.slot, at.tile)
                     : fmt::format("scale of page {} slot {} byte {}", wrong.page, at.slot, at.byte);
        case Region::pad:
          return fmt::format("pad of page {} slot {}", wrong.page, at.slot);
        case Region::tail:
          break;
      }
      return fmt::format("tail of page {}, byte {} of {}", wrong.page,
                         wrong.offset % shape.page_stride - smallest_page_stride(shape.layout, shape.page_size),
                         shape.page_stride - smallest_page_stride(shape.layout, shape.page_size));
    case Area::guard_before_pool:
    case Area::guard_before_input:
    case Area::guard_before_indices:
      return at_distance(wrong, -wrong.offset, "before it");
    case Area::guard_after_pool:
      return at_distance(wrong, wrong.offset - shape.pool_bytes(), "past its end");
    case Area::guard_after_input:
      return at_distance(wrong, wrong.offset - shape.input_bytes(), "past its end");
    case Area::guard_after_indices:
      return at_distance(wrong, wrong.offset - shape.indices_bytes(), "past its end");
    case Area::input:
    case Area::indices:
      break;
  }
  return fmt::format("{}, byte {}", name_of(wrong.area), wrong.offset);
}

std::string describe(const WrongByte& wrong, const Case& c, const Dialect& dialect) {
  std::string owner;
  if (wrong.token >= 0) {
    owner = fmt::format(", token {} (index {})", wrong.token, c.indices[static_cast<std::size_t>(wrong.token)]);
    if (wrong.contenders > 1) {
      owner += fmt::format(", nearest of {} contenders", wrong.contenders);
    }
    if (wrong.place.region == Region::code && dialect.layout == c.shape.layout) {
      const std::int64_t element = wrong.place.tile * layout_shape(c.shape.layout).tile + wrong.place.element;
      const std::uint8_t* row = c.input.data() + wrong.token * c.shape.row_stride;
      const F32 x = element_to_f32(element_bits(row, c.shape.input_type, element), c.shape.input_type);
      owner += fmt::format(", x = {}", value_of(x));
    }
  } else if (wrong.area == Area::pool) {
    owner = ", no token's";
  }
  if (wrong.wrong == Wrong::stray && wrong.expected == wrong.found) {
    return fmt::format("{} {}: read, or written with 0x{:02x} as before", name_of(wrong.wrong),
                       describe_place(wrong, c.shape), wrong.found);
  }
  const std::string expected = wrong.wrong == Wrong::stray ? fmt::format("0x{:02x} (as before)", wrong.expected)
                                                           : with_value(wrong.expected, wrong, c.shape);
  const std::string found = wrong.wrong == Wrong::missing ? fmt::format("0x{:02x} (never written)", wrong.found)
                                                          : with_value(wrong.found, wrong, c.shape);
  return fmt::format("{} {}{}{}: expected {}, found {}", name_of(wrong.wrong), describe_place(wrong, c.shape), owner,
                     holding(wrong, c.shape), expected, found);
}

std::string describe_call(const Case& c) {
  constexpr std::size_t most_indices = 12;
  const StoreShape& s = c.shape;
  std::string indices;
  for (std::size_t i = 0; i < c.indices.size() && i < most_indices; ++i) {
    indices += fmt::format(" {}", c.indices[i]);
  }
  if (c.indices.size() > most_indices) {
    indices += " ...";
  }
  const auto plural = [](std::int64_t count) { return count == 1 ? "" : "s"; };
  return fmt::format("{} token{} of {}, {} indices{}; {} page{} of {} token{}, page stride {}; row stride {}; {}", s.tokens,
                     plural(s.tokens), name_of(s.input_type), name_of(s.index_type), indices, s.pages, plural(s.pages),
                     s.page_size, plural(s.page_size), s.page_stride, s.row_stride, name_of(s.fp8));
}

std::string summarise(const Judgement& judgement) {
  std::map<std::pair<std::string, Wrong>, std::int64_t> counts;
  for (const WrongByte& wrong : judgement.wrong) {
    ++counts[{region_of(wrong), wrong.wrong}];
  }
  std::string line = fmt::format("{} wrong byte{}:", judgement.wrong_bytes, judgement.wrong_bytes == 1 ? "" : "s");
  const char* separator = " ";
  for (const auto& [what, count] : counts) {
    line += fmt::format("{}{} {} {}", separator, what.first, count, name_of(what.second));
    separator = ", ";
  }
  if (static_cast<std::int64_t>(judgement.wrong.size()) < judgement.wrong_bytes) {
    line += fmt::format(" (among the first {})", judgement.wrong.size());
  }
  return line;
}

}  // namespace kvproof
