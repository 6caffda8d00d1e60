// The arena on the host: strays of any distance are seen at their place and kill nothing; over-reads fault at either end.
#include "kvproof/device/arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <numeric>

#include "kvproof/device/error.h"

namespace kvproof {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

using Store = std::function<void(const kvproof_store_call&)>;

std::int32_t call_function(void* state, const kvproof_store_call* call, const char**) {
  (*static_cast<Store*>(state))(*call);
  return KVPROOF_STORED;
}

StoreShape shape_of(std::int64_t page_stride = 1728, std::int64_t tokens = 3) {
  StoreShape shape;
  shape.pages = 2;
  shape.page_size = 2;
  shape.page_stride = page_stride;
  shape.tokens = tokens;
  shape.row_stride = shape.row_bytes();
  return shape;
}

class ArenaTest : public testing::Test {
 protected:
  Observation run(const Store& store, const Poison& poison = {7, false}, Placement placement = Placement::end_flush,
                  const StoreShape& shape = shape_of()) {
    Store kept = store;
    Subject subject;
    subject.store = call_function;
    subject.state = &kept;
    input.resize(static_cast<std::size_t>(shape.input_bytes()));
    std::iota(input.begin(), input.end(), std::uint8_t{1});
    indices.resize(static_cast<std::size_t>(shape.indices_bytes()));
    return arena.run(subject, shape, input, indices, poison, placement);
  }

  // The only byte that has changed in the far guards.
  FarByte stray(std::int64_t distance, std::uint8_t value, const Poison& poison, const StoreShape& shape = shape_of()) {
    const Observation seen =
        run([&](const kvproof_store_call& call) { byte_at(call, distance) = value; }, poison, Placement::end_flush, shape);
    EXPECT_EQ(seen.far.changed_bytes, 1) << distance;
    return seen.far.changed.empty() ? FarByte{} : seen.far.changed.front();
  }

  static volatile std::uint8_t& byte_at(const kvproof_store_call& call, std::int64_t offset) {
    return static_cast<volatile std::uint8_t*>(call.cache)[offset];
  }

  // How a child process ends that runs this.
  int signal_of(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      std::signal(SIGSEGV, SIG_DFL);
      work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  // Reads the input's byte at `offset` in a child.
  int signal_of_read(std::int64_t offset, Placement placement, bool of_indices = false) {
    return signal_of([&] {
      run(
          [&](const kvproof_store_call& call) {
            const auto* at = static_cast<const volatile std::uint8_t*>(of_indices ? call.index : call.input);
            static_cast<void>(at[offset]);
          },
          {7, false}, placement, shape_of(1728, 2));
    });
  }

  Arena arena{host_memory()};
  std::vector<std::uint8_t> input;
  std::vector<std::uint8_t> indices;
};

TEST_F(ArenaTest, a_run_that_writes_nothing_changes_nothing) {
  for (const bool complement : {false, true}) {
    const Observation seen = run([](const kvproof_store_call&) {}, {7, complement});
    EXPECT_EQ(seen.far.changed_bytes, 0);
    EXPECT_GT(seen.far.mirror, 0);
    for (std::int64_t i = -seen.pool.before; i < seen.pool.size() + seen.pool.after; ++i) {
      ASSERT_EQ(seen.pool.data()[i], poison_byte(pool_poison(seen.poison), i)) << i;
    }
    EXPECT_TRUE(std::equal(input.begin(), input.end(), seen.input.data()));
    EXPECT_EQ(seen.pool.size(), 2 * 1728);
  }
}

TEST_F(ArenaTest, the_guards_reach_eight_gibibytes) { EXPECT_EQ(arena.reach(), 8 * gib); }

TEST_F(ArenaTest, a_stray_next_to_the_pool_is_in_its_near_guard) {
  const std::int64_t size = shape_of().pool_bytes();
  for (const std::int64_t at : {std::int64_t{-1}, size}) {
    const Observation seen = run([&](const kvproof_store_call& call) { byte_at(call, at) = byte_at(call, at) ^ 0xFF; });
    EXPECT_EQ(seen.far.changed_bytes, 0);
    EXPECT_EQ(seen.pool.data()[at], static_cast<std::uint8_t>(~poison_byte(pool_poison(seen.poison), at)));
  }
}

TEST_F(ArenaTest, a_stray_far_away_is_seen_at_its_exact_place) {
  const std::int64_t end = shape_of().pool_bytes();
  for (const std::int64_t distance : {std::int64_t{-36864}, std::int64_t{-123456789}, -2 * gib, -8 * gib, end + 36864,
                                      end + gib, 4 * gib + 5, 8 * gib - 1}) {
    const FarByte byte = stray(distance, 0xA5, {7, false});
    EXPECT_EQ(byte.offset, distance);
    EXPECT_TRUE(byte.exact);
    EXPECT_EQ(byte.found, 0xA5);
  }
}

TEST_F(ArenaTest, no_value_hides_from_both_poisons) {
  for (int value = 0; value < 256; ++value) {
    std::int64_t seen = 0;
    for (const bool complement : {false, true}) {
      const auto store = [&](const kvproof_store_call& call) { byte_at(call, -gib) = static_cast<std::uint8_t>(value); };
      seen += run(store, {static_cast<std::uint64_t>(value), complement}).far.changed_bytes;
    }
    EXPECT_GE(seen, 1) << value;
  }
}

TEST_F(ArenaTest, a_zero_that_moves_does_not_hide) {
  std::int64_t at = -gib;
  const auto store = [&](const kvproof_store_call& call) { byte_at(call, at) = 0; };
  EXPECT_EQ(run(store, {7, false}).far.changed_bytes, 0);
  at -= 5 * 4096;
  const Observation seen = run(store, {7, true});
  ASSERT_EQ(seen.far.changed_bytes, 1);
  EXPECT_EQ(seen.far.changed[0].offset / 4096, at / 4096);
  EXPECT_EQ(seen.far.changed[0].expected, seen.far.changed[0].found);
  EXPECT_EQ(run(store, {8, false}).far.changed_bytes, 0);
}

TEST_F(ArenaTest, one_address_written_twice_as_far_is_told_modulo_the_mirror) {
  const Observation first = run([](const kvproof_store_call&) {});
  const std::int64_t mirror = first.far.mirror;
  const Observation seen = run([&](const kvproof_store_call& call) {
    byte_at(call, -gib) = 1;
    byte_at(call, -gib - mirror) = 2;
  });
  ASSERT_EQ(seen.far.changed_bytes, 1);
  EXPECT_FALSE(seen.far.changed[0].exact);
  EXPECT_EQ(((seen.far.changed[0].offset + gib) % mirror + mirror) % mirror, 0);
  EXPECT_LT(seen.far.changed[0].offset, 0);
}

TEST_F(ArenaTest, a_stray_leaves_nothing_for_the_next_case) {
  stray(-gib, 0xA5, {7, false});
  EXPECT_EQ(run([](const kvproof_store_call&) {}, {7, true}).far.changed_bytes, 0);
  EXPECT_EQ(run([](const kvproof_store_call&) {}, {8, false}).far.changed_bytes, 0);
}

TEST_F(ArenaTest, pools_that_grow_and_shrink_keep_their_guards) {
  for (const std::int64_t stride :
       {std::int64_t{1728}, std::int64_t{3} << 20, std::int64_t{1731}, std::int64_t{200} << 20, std::int64_t{1728}}) {
    const StoreShape shape = shape_of(stride);
    const std::int64_t far = shape.pool_bytes() + 64 * 1024;
    EXPECT_EQ(stray(far, 0xA5, {static_cast<std::uint64_t>(stride), false}, shape).offset, far);
    EXPECT_EQ(stray(-far, 0xA5, {static_cast<std::uint64_t>(stride), true}, shape).offset, -far);
  }
}

TEST_F(ArenaTest, an_over_read_by_one_faults_in_the_placement_at_its_end) {
  const std::int64_t input_end = shape_of(1728, 2).input_bytes();
  const std::int64_t indices_end = shape_of(1728, 2).indices_bytes();
  EXPECT_EQ(signal_of_read(input_end - 1, Placement::end_flush), 0);
  EXPECT_EQ(signal_of_read(input_end, Placement::end_flush), SIGSEGV);
  EXPECT_EQ(signal_of_read(indices_end, Placement::end_flush, true), SIGSEGV);
  EXPECT_EQ(signal_of_read(0, Placement::start_flush), 0);
  EXPECT_EQ(signal_of_read(-1, Placement::start_flush), SIGSEGV);
  EXPECT_EQ(signal_of_read(-1, Placement::start_flush, true), SIGSEGV);
}

// What an over-read by one at a given end does while one buffer lies loose at one end: only that one returns.
TEST_F(ArenaTest, an_over_read_returns_where_its_buffer_lies_loose_at_its_end_and_nowhere_else) {
  const std::int64_t ends[] = {shape_of(1728, 2).input_bytes(), shape_of(1728, 2).indices_bytes()};
  for (const Given loose : {Given::input, Given::indices}) {
    for (const Placement flush : {Placement::end_flush, Placement::start_flush}) {
      arena.loosen(Loosened{loose, flush});
      for (const Given read : {Given::input, Given::indices}) {
        for (const Placement placement : {Placement::end_flush, Placement::start_flush}) {
          const std::int64_t at = placement == Placement::start_flush ? -1 : ends[read == Given::indices ? 1 : 0];
          EXPECT_EQ(signal_of_read(at, placement, read == Given::indices), read == loose && placement == flush ? 0 : SIGSEGV)
              << static_cast<int>(loose) << static_cast<int>(flush) << static_cast<int>(read) << static_cast<int>(placement);
        }
      }
    }
  }
  arena.loosen(std::nullopt);
  EXPECT_EQ(signal_of_read(ends[1], Placement::end_flush, true), SIGSEGV);
}

// Else what goes away at one end could have been at the other.
TEST_F(ArenaTest, the_end_that_is_not_loose_is_no_looser_than_before) {
  const std::int64_t end = shape_of(1728, 2).indices_bytes();
  const std::int64_t memory = (1 << 20) - 4096;
  arena.loosen(Loosened{Given::indices, Placement::end_flush});
  EXPECT_EQ(signal_of_read(end + memory, Placement::end_flush, true), 0);
  EXPECT_EQ(signal_of_read(-4096, Placement::end_flush, true), 0);
  EXPECT_EQ(signal_of_read(-4097, Placement::end_flush, true), SIGSEGV);
  arena.loosen(Loosened{Given::indices, Placement::start_flush});
  EXPECT_EQ(signal_of_read(-memory, Placement::start_flush, true), 0);
  EXPECT_EQ(signal_of_read(end + 4095, Placement::start_flush, true), 0);
  EXPECT_EQ(signal_of_read(end + 4096, Placement::start_flush, true), SIGSEGV);
}

TEST_F(ArenaTest, memory_beside_a_loose_buffer_is_poison_that_is_seen) {
  for (const Placement flush : {Placement::end_flush, Placement::start_flush}) {
    arena.loosen(Loosened{Given::input, flush});
    const std::int64_t at = flush == Placement::end_flush ? shape_of().input_bytes() + 70'000 : -70'000;
    const Observation seen = run(
        [&](const kvproof_store_call& call) {
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(call.input) % 16, 0U);
          auto* byte = static_cast<volatile std::uint8_t*>(const_cast<void*>(call.input)) + at;
          *byte = static_cast<std::uint8_t>(*byte ^ 0xFF);
        },
        {7, false}, flush);
    EXPECT_EQ(arena.placement(), flush);
    EXPECT_TRUE(std::equal(input.begin(), input.end(), seen.input.data()));
    std::vector<std::int64_t> changed;
    for (std::int64_t i = -seen.input.before; i < seen.input.size() + seen.input.after; ++i) {
      const bool inside = i >= 0 && i < seen.input.size();
      if (!inside && seen.input.data()[i] != poison_byte(input_poison(seen.poison), i)) {
        changed.push_back(i);
      }
    }
    EXPECT_EQ(changed, std::vector<std::int64_t>{at});
  }
}

// A wrong row stride or page size goes further than a page of memory.
TEST_F(ArenaTest, far_over_reads_fault_in_either_placement) {
  for (const bool of_indices : {false, true}) {
    for (const std::int64_t away : {8 << 10, 64 << 10, 16 << 20, 1 << 30}) {
      EXPECT_EQ(signal_of_read(away + 4096, Placement::end_flush, of_indices), SIGSEGV) << away;
      EXPECT_EQ(signal_of_read(-away, Placement::start_flush, of_indices), SIGSEGV) << away;
    }
  }
}

// Where the files of the guards cannot be asked any more, strays in them would not be seen.
TEST_F(ArenaTest, a_kernel_that_closes_descriptors_is_no_kernel_without_strays) {
  EXPECT_EQ(signal_of([&] {
              try {
                run([](const kvproof_store_call& call) {
                  byte_at(call, -gib) = 1;
                  close_range(3, ~0U, 0);
                });
              } catch (const CannotRun&) {
                raise(SIGUSR1);
              }
            }),
            SIGUSR1);
}

TEST_F(ArenaTest, a_write_past_the_guards_faults) {
  EXPECT_EQ(signal_of([&] { run([](const kvproof_store_call& call) { byte_at(call, -9 * gib) = 1; }); }), SIGSEGV);
}

TEST_F(ArenaTest, input_stays_aligned_and_what_follows_it_is_guard) {
  const Observation seen = run(
      [](const kvproof_store_call& call) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(call.input) % 16, 0U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(call.index) % 16, 0U);
      },
      {7, false}, Placement::end_flush, shape_of(1728, 3));
  EXPECT_EQ(seen.indices.after, 8);  // three of eight bytes, up to the next sixteen
  for (std::int64_t i = 24; i < 32; ++i) {
    EXPECT_EQ(seen.indices.data()[i], poison_byte(indices_poison(seen.poison), i));
  }
}

TEST(Arenas, plain_guards_are_wider_where_a_buffer_lies_loose) {
  ArenaOptions options;
  options.reach = 0;
  Arena plain(host_memory(), options);
  ASSERT_EQ(plain.reach(), 0);
  Store writes_far = [](const kvproof_store_call& call) {
    auto* beyond = static_cast<std::uint8_t*>(const_cast<void*>(call.index)) + shape_of().indices_bytes() + 500'000;
    *beyond = static_cast<std::uint8_t>(*beyond ^ 0xFF);
  };
  Subject subject;
  subject.store = call_function;
  subject.state = &writes_far;
  const StoreShape shape = shape_of();
  const std::vector<std::uint8_t> input(static_cast<std::size_t>(shape.input_bytes()), 3);
  const std::vector<std::uint8_t> indices(static_cast<std::size_t>(shape.indices_bytes()), 1);
  plain.loosen(Loosened{Given::indices, Placement::end_flush});
  const Observation seen = plain.run(subject, shape, input, indices, {7, false}, Placement::end_flush);
  EXPECT_EQ(seen.indices.after, 1 << 20);
  EXPECT_EQ(seen.indices.before, seen.input.before);
  EXPECT_EQ(seen.input.after, seen.input.before);
  EXPECT_TRUE(std::equal(indices.begin(), indices.end(), seen.indices.data()));
  for (std::int64_t i = seen.indices.size(); i < seen.indices.size() + seen.indices.after; ++i) {
    const bool written = i == seen.indices.size() + 500'000;
    ASSERT_EQ(seen.indices.data()[i] != poison_byte(indices_poison(seen.poison), i), written) << i;
  }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Arenas, few_addresses_make_the_guards_shorter_and_are_told) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit little{std::uint64_t{6} << 30, std::uint64_t{6} << 30};
    setrlimit(RLIMIT_AS, &little);
    const Arena small(host_memory());
    const bool told = small.device().find("guards of 2048 MiB instead of 8192 MiB") != std::string::npos;
    _exit(told && small.reach() == 2 * gib ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
#endif

TEST(Arenas, set_up_in_no_time_and_leave_nothing) {
  const auto mappings = [] {
    std::size_t lines = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    for (int c = fgetc(maps); c != EOF; c = fgetc(maps)) {
      lines += c == '\n' ? 1U : 0U;
    }
    fclose(maps);
    return lines;
  };
  { const Arena warm(host_memory()); }
  const std::size_t before = mappings();
  for (int i = 0; i < 100; ++i) {
    const Arena arena(host_memory());
    EXPECT_LT(mappings(), before + 2000);
  }
  EXPECT_LT(mappings(), before + 20);
}

}  // namespace
}  // namespace kvproof
