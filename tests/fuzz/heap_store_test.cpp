// A changed byte in any buffer is told, in pools that are kept as in those that are not, and right kernels are not accused.
#include "kvproof/fuzz/heap_store.h"

#include <gtest/gtest.h>

#include "kvproof/fuzz/mutate.h"

namespace kvproof::fuzz {
namespace {

enum class Buffer { none, pool, input, indices };

// A right kernel, and then a bit of one byte.
struct Changed {
  const Subject* right = nullptr;
  Buffer buffer = Buffer::none;
  std::int64_t at = 0;
  bool rests = false;  // stores nothing

  static std::int32_t store(void* state, const kvproof_store_call* call, const char** message) {
    const Changed& changed = *static_cast<const Changed*>(state);
    if (changed.rests) {
      return KVPROOF_STORED;
    }
    const std::int32_t answer = changed.right->store(changed.right->state, call, message);
    const void* buffers[] = {nullptr, call->cache, call->input, call->index};
    if (const void* buffer = buffers[static_cast<std::size_t>(changed.buffer)]; buffer != nullptr) {
      static_cast<std::uint8_t*>(const_cast<void*>(buffer))[changed.at] ^= 0x10;
    }
    return answer;
  }
};

class HeapStoreTest : public testing::Test {
 protected:
  static Subject wrapped(Changed& changed) {
    Subject subject = *changed.right;
    subject.store = &Changed::store;
    subject.state = &changed;
    return subject;
  }

  // Two tokens in pages of 256 tokens, 149,760 bytes, or of 2.
  static FuzzCall call(bool large) {
    FuzzCall call;
    call.page_size = large ? 4 : 0;
    call.tokens = {{IndexClass::slot, 1, ValueClass::spread, 3}, {IndexClass::zero, 0, ValueClass::spread, 4}};
    return call;
  }

  const Subject right_ = builtin_host_subjects().front();
  Changed changed_{&right_};
  const Subject subject_ = wrapped(changed_);
  HeapStore store_{subject_};
};

TEST_F(HeapStoreTest, right_kernels_are_not_accused) {
  for (const Subject& subject : builtin_host_subjects()) {
    HeapStore store(subject);
    Draw draw(8);
    for (int round = 0; round < 400; ++round) {
      const auto wrong = store.run(drawn_call(draw));
      ASSERT_EQ(wrong, std::nullopt) << subject.title() << ": " << *wrong;
    }
  }
}

TEST_F(HeapStoreTest, any_changed_byte_of_a_pool_is_told_and_the_next_call_begins_clean) {
  for (const bool large : {true, false}) {
    ASSERT_EQ(store_.run(call(large)), std::nullopt);
    const std::int64_t bytes = store_.made().shape.pool_bytes();
    ASSERT_EQ(bytes > 120'000, large);
    const std::int64_t step = large ? 97 : 1;
    for (std::int64_t at = 0; at < bytes; at += step) {
      changed_.buffer = Buffer::pool;
      changed_.at = at;
      ASSERT_NE(store_.run(call(large)), std::nullopt) << "byte " << at << " of " << bytes;
      changed_.buffer = Buffer::none;
      const auto wrong = store_.run(call(large));
      ASSERT_EQ(wrong, std::nullopt) << "after byte " << at << ": " << *wrong;
    }
  }
}

TEST_F(HeapStoreTest, a_row_left_out_is_told_after_it_was_stored_in_the_same_pool) {
  ASSERT_EQ(store_.run(call(true)), std::nullopt);
  changed_.rests = true;
  EXPECT_NE(store_.run(call(true)), std::nullopt);
}

TEST_F(HeapStoreTest, a_changed_byte_of_the_input_or_the_indices_is_told) {
  changed_.at = 3;
  changed_.buffer = Buffer::input;
  EXPECT_EQ(store_.run(call(false)), "byte 3 of the input was changed");
  changed_.buffer = Buffer::indices;
  EXPECT_EQ(store_.run(call(true)), "byte 3 of the indices was changed");
}

}  // namespace
}  // namespace kvproof::fuzz
