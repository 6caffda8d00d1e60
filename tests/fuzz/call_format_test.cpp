// Any bytes are a call, and a call comes back from its bytes.
#include "kvproof/fuzz/call_format.h"

#include <gtest/gtest.h>

#include "kvproof/fuzz/mutate.h"

namespace kvproof::fuzz {
namespace {

std::vector<std::uint8_t> random_bytes(Draw& draw, std::int64_t count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(draw.bits());
  }
  return bytes;
}

TEST(CallFormat, any_bytes_are_a_call_that_comes_back_from_its_own_bytes) {
  Draw draw(1);
  for (std::int64_t size = 0; size <= 2 * static_cast<std::int64_t>(most_call_bytes); ++size) {
    for (int round = 0; round < 16; ++round) {
      const FuzzCall call = decoded_call(random_bytes(draw, size));
      ASSERT_LE(call.tokens.size(), FuzzCall::most_tokens);
      const std::vector<std::uint8_t> bytes = encoded_call(call);
      ASSERT_EQ(bytes.size(), call_header_bytes + call.tokens.size() * call_token_bytes);
      ASSERT_EQ(bytes.front(), call_format_version);
      ASSERT_EQ(decoded_call(bytes), call) << "of " << size << " bytes";
    }
  }
}

TEST(CallFormat, drawn_mutated_and_crossed_calls_come_back_from_their_bytes) {
  Draw draw(2);
  FuzzCall other = drawn_call(draw);
  for (int round = 0; round < 20'000; ++round) {
    FuzzCall call = drawn_call(draw);
    mutate(draw, call);
    call = crossed(draw, call, other);
    ASSERT_LE(call.tokens.size(), FuzzCall::most_tokens);
    ASSERT_EQ(decoded_call(encoded_call(call)), call);
    other = call;
  }
}

TEST(CallFormat, every_class_can_be_written) {
  for (std::size_t index = 0; index < index_classes; ++index) {
    for (std::size_t stride = 0; stride < page_strides; ++stride) {
      FuzzCall call;
      call.page_stride = static_cast<PageStride>(stride);
      call.page_stride_number = 0xABCD;
      call.row_stride = RowStride::by_element;
      call.tokens = {{static_cast<IndexClass>(index), 0xFFFE, ValueClass::infinities, 0xFF}};
      ASSERT_EQ(decoded_call(encoded_call(call)), call);
    }
  }
}

TEST(CallFormat, a_short_buffer_takes_fewer_tokens_and_no_half_one) {
  Draw draw(3);
  FuzzCall call;
  while (call.tokens.size() < FuzzCall::most_tokens) {
    call = drawn_call(draw);
  }
  for (std::size_t room = 0; room <= most_call_bytes; ++room) {
    std::vector<std::uint8_t> bytes(room);
    const std::size_t written = encode_call(call, bytes);
    ASSERT_LE(written, room);
    ASSERT_EQ(written, room < call_header_bytes ? 0 : room - (room - call_header_bytes) % call_token_bytes);
    const FuzzCall back = decoded_call(std::span(bytes).first(written));
    for (std::size_t token = 0; token < back.tokens.size(); ++token) {
      ASSERT_EQ(back.tokens[token], call.tokens[token]);
    }
  }
}

}  // namespace
}  // namespace kvproof::fuzz
