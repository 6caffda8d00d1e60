#include "kvproof/fuzz/mutate.h"

#include <algorithm>
#include <array>

namespace kvproof::fuzz {
namespace {

template <class Choice>
Choice any(Draw& draw, std::size_t count) {
  return static_cast<Choice>(draw.below(static_cast<std::int64_t>(count)));
}

std::uint8_t any_byte(Draw& draw) { return static_cast<std::uint8_t>(draw.bits()); }

// Small numbers name slots that other tokens are near; large ones reach the rest of the pool.
std::uint16_t any_number(Draw& draw) {
  const std::uint64_t bits = draw.bits();
  return static_cast<std::uint16_t>(bits >> (16 + (bits & 15)) & (0xFFFFU >> (bits & 15)));
}

std::uint16_t near(Draw& draw, std::uint16_t number) { return static_cast<std::uint16_t>(number + draw.between(-2, 2)); }

FuzzToken any_token(Draw& draw) {
  FuzzToken token;
  token.index = any<IndexClass>(draw, index_classes);
  token.number = any_number(draw);
  token.values = any<ValueClass>(draw, value_classes);
  token.row = any_byte(draw);
  return token;
}

std::size_t any_place(Draw& draw, const std::vector<FuzzToken>& tokens) {
  return static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(tokens.size())));
}

void change_shape(Draw& draw, FuzzCall& call) {
  switch (draw.below(11)) {
    case 0:
      call.kernel = any_byte(draw);
      return;
    case 1:
      call.input_type = any_byte(draw);
      return;
    case 2:
      call.index_type ^= 1;
      return;
    case 3:
      call.fp8 ^= 1;
      return;
    case 4:
      call.page_size = any_byte(draw);
      return;
    case 5:
      call.pages = any_byte(draw);
      return;
    case 6:
    case 7:
      call.page_stride = any<PageStride>(draw, page_strides);
      return;
    case 8:
      call.page_stride_number = draw.one_in(2) ? any_number(draw) : near(draw, call.page_stride_number);
      return;
    case 9:
      call.row_stride = any<RowStride>(draw, row_strides);
      call.row_stride_number = any_byte(draw);
      return;
    default:
      call.poison = any_number(draw);
      return;
  }
}

void change_token(Draw& draw, FuzzToken& token) {
  switch (draw.below(5)) {
    case 0:
    case 1:
      token.index = any<IndexClass>(draw, index_classes);
      return;
    case 2:
      token.number = draw.one_in(2) ? any_number(draw) : near(draw, token.number);
      return;
    case 3:
      token.values = any<ValueClass>(draw, value_classes);
      return;
    default:
      token.row = any_byte(draw);
      return;
  }
}

void change_tokens(Draw& draw, std::vector<FuzzToken>& tokens) {
  if (tokens.empty() || (draw.one_in(4) && tokens.size() < FuzzCall::most_tokens)) {
    const auto at = tokens.begin() + draw.between(0, static_cast<std::int64_t>(tokens.size()));
    tokens.insert(at, any_token(draw));
    return;
  }
  const std::size_t place = any_place(draw, tokens);
  switch (draw.below(6)) {
    case 0:
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(place));
      return;
    case 1:
      std::swap(tokens[place], tokens[any_place(draw, tokens)]);
      return;
    case 2:
      if (tokens.size() < FuzzCall::most_tokens) {
        const FuzzToken copy = tokens[place];
        tokens.push_back(copy);
      }
      return;
    default:
      change_token(draw, tokens[place]);
      return;
  }
}

}  // namespace

FuzzCall drawn_call(Draw& draw) {
  FuzzCall call;
  call.kernel = any_byte(draw);
  call.input_type = any_byte(draw);
  call.index_type = any_byte(draw);
  call.fp8 = any_byte(draw);
  call.page_size = any_byte(draw);
  call.pages = any_byte(draw);
  call.page_stride = any<PageStride>(draw, page_strides);
  call.page_stride_number = any_number(draw);
  call.row_stride = any<RowStride>(draw, row_strides);
  call.row_stride_number = any_byte(draw);
  call.poison = any_number(draw);
  const std::int64_t tokens = draw.between(0, draw.of<std::int64_t>({1, 2, 4, 8, FuzzCall::most_tokens}));
  for (std::int64_t i = 0; i < tokens; ++i) {
    call.tokens.push_back(any_token(draw));
  }
  return call;
}

void mutate(Draw& draw, FuzzCall& call) {
  for (std::int64_t changes = draw.between(1, 4); changes > 0; --changes) {
    if (draw.one_in(3)) {
      change_shape(draw, call);
    } else {
      change_tokens(draw, call.tokens);
    }
  }
}

FuzzCall crossed(Draw& draw, const FuzzCall& a, const FuzzCall& b) {
  FuzzCall child = draw.one_in(2) ? a : b;
  child.tokens.clear();
  const auto take = [&](const std::vector<FuzzToken>& from) {
    if (from.empty()) {
      return;
    }
    const auto size = static_cast<std::int64_t>(from.size());
    const std::int64_t begin = draw.below(size);
    const std::int64_t end = draw.between(begin, size);
    for (std::int64_t i = begin; i < end && child.tokens.size() < FuzzCall::most_tokens; ++i) {
      child.tokens.push_back(from[static_cast<std::size_t>(i)]);
    }
  };
  take(a.tokens);
  take(b.tokens);
  return child;
}

}  // namespace kvproof::fuzz
