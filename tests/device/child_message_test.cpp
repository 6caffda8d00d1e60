// What comes from a child is read without trust.
#include "kvproof/device/child_message.h"

#include <gtest/gtest.h>

#include "kvproof/device/child_channel.h"
#include "kvproof/device/subject.h"

namespace kvproof {
namespace {

TEST(ChildMessage, WhatIsWrittenIsRead) {
  MessageWriter to;
  to.value(std::int32_t{-7});
  to.text("slot 3");
  to.text("");
  to.values(std::vector<std::int64_t>{1, -1});
  to.value(std::uint32_t{2});
  MessageReader from(to.bytes());
  EXPECT_EQ(from.value<std::int32_t>(), -7);
  EXPECT_EQ(from.text(), "slot 3");
  EXPECT_EQ(from.text(), "");
  EXPECT_EQ(from.values<std::int64_t>(), (std::vector<std::int64_t>{1, -1}));
  EXPECT_EQ(from.choice(Duplicates::last), Duplicates::last);
  EXPECT_NO_THROW(from.end());
}

TEST(ChildMessage, EveryShorterMessageIsRefused) {
  MessageWriter to;
  to.text("page");
  to.values(std::vector<std::uint8_t>{1, 2, 3});
  to.value(std::int64_t{1});
  for (std::size_t size = 0; size < to.bytes().size(); ++size) {
    MessageReader from(std::span(to.bytes()).first(size));
    EXPECT_THROW(
        {
          static_cast<void>(from.text());
          static_cast<void>(from.values<std::uint8_t>());
          static_cast<void>(from.value<std::int64_t>());
        },
        BadMessage)
        << size;
  }
}

TEST(ChildMessage, ACountBeyondTheMessageAllocatesNothing) {
  for (const std::uint64_t count : {std::uint64_t{2}, std::uint64_t{1} << 40, ~std::uint64_t{0}, std::uint64_t{1} << 61}) {
    MessageWriter to;
    to.value(count);
    to.value(std::int64_t{5});
    MessageReader values(to.bytes());
    EXPECT_THROW(values.values<std::int64_t>(), BadMessage) << count;
    MessageReader text(to.bytes());
    EXPECT_THROW(
        {
          static_cast<void>(text.text());
          text.end();
        },
        BadMessage)
        << count;
  }
}

TEST(ChildMessage, AChoiceOutOfRangeAndBytesLeftOverAreRefused) {
  MessageWriter to;
  to.value(std::uint32_t{4});
  MessageReader choice(to.bytes());
  EXPECT_THROW(choice.choice(Duplicates::forbidden), BadMessage);
  MessageReader rest(to.bytes());
  EXPECT_THROW(rest.end(), BadMessage);
}

TEST(ChildMessage, AChecksumSeesEveryBitAndTheLength) {
  std::vector<std::uint8_t> bytes(37, 0x5A);
  const std::uint64_t sum = frame_checksum(bytes);
  for (std::size_t i = 0; i < 8 * bytes.size(); ++i) {
    bytes[i / 8] ^= static_cast<std::uint8_t>(1U << (i % 8));
    EXPECT_NE(frame_checksum(bytes), sum) << i;
    bytes[i / 8] ^= static_cast<std::uint8_t>(1U << (i % 8));
  }
  EXPECT_NE(frame_checksum(std::span(bytes).first(36)), sum);
}

}  // namespace
}  // namespace kvproof
