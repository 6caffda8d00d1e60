// The arena and the judge on the GPU: strays of any distance are seen and kill nothing, every finding is the host judge's,
// and rows past 2^31, 2^32 and 2^33 bytes are looked for at the right place and at the wrapped one.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "altered.h"
#include "device_bytes.h"
#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/cuda_judge.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/trial.h"

namespace kvproof {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

Subject strict(Layout layout) { return strict_of(builtin_cuda_subjects(), layout); }

Case case_of(Layout layout, std::int64_t pages, std::int64_t page_size, std::int64_t page_stride,
             std::vector<std::int64_t> indices) {
  Case c = zero_case(layout, pages, page_size, page_stride, std::move(indices));
  Draw draw(3);
  for (std::uint8_t& byte : c.input) {
    byte = static_cast<std::uint8_t>(draw.bits() & 0x3F);
  }
  c.poison_seed = 99;
  return c;
}

class GpuArena : public testing::Test {
 protected:
  static Case small() { return case_of(Layout::flashmla, 4, 64, 37440, {3, 200, -1}); }

  Arena arena{cuda_memory()};
};

TEST_F(GpuArena, has_mirrors_of_eight_gibibytes) {
  EXPECT_EQ(arena.reach(), 8 * gib) << arena.device();
  EXPECT_TRUE(arena.runs_in_place()) << arena.device();
}

// What a device without the virtual memory interface gets.
TEST_F(GpuArena, plain_guards_say_that_they_are_and_see_what_is_near) {
  Arena plain(cuda_memory(), {0});
  EXPECT_EQ(plain.reach(), 0);
  EXPECT_FALSE(plain.runs_in_place());
  EXPECT_NE(plain.device().find("plain guards: "), std::string::npos) << plain.device();
  const Case c = small();
  const Trial right = try_case(plain, strict(Layout::flashmla), c);
  EXPECT_TRUE(right.judged[0].holds() && right.judged[1].holds());
  EXPECT_GT(right.judged[0].codes, 0);
  for (const std::int64_t distance : {std::int64_t{-1}, std::int64_t{-36864}, c.shape.pool_bytes()}) {
    Altered altered{strict(Layout::flashmla),
                    [&](const kvproof_store_call& call) { flip(pool_of(call) + distance, 0xFF, call.stream); }};
    const Trial trial = try_case(plain, subject_of(altered), c);
    ASSERT_EQ(trial.judged[0].wrong_bytes, 1) << distance;
    EXPECT_EQ(trial.judged[0].wrong[0].offset, distance);
    EXPECT_EQ(trial.judged[0].wrong[0].modulo, 0);
  }
}

TEST_F(GpuArena, a_right_store_passes) {
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    const Case c = case_of(layout, 4, 64, production_page_stride(layout, 64), {3, 200, -1, 255, 0});
    const Trial trial = try_case(arena, strict(layout), c);
    for (const Judgement& judged : trial.judged) {
      EXPECT_TRUE(judged.holds()) << summarise(judged)
                                  << (judged.wrong.empty() ? "" : describe(judged.wrong[0], c, trial.expected.dialect));
      EXPECT_EQ(judged.codes, 4 * layout_shape(layout).codes);
      EXPECT_GT(judged.bytes, c.shape.pool_bytes());
    }
  }
}

TEST_F(GpuArena, strays_are_seen_in_their_direction_modulo_the_mirror) {
  const Case c = small();
  const std::int64_t end = c.shape.pool_bytes();
  constexpr std::int64_t mirror = std::int64_t{16} << 20;
  // The reach counts from the pool's own memory, which has its near guards on top.
  for (const std::int64_t distance :
       {std::int64_t{-1}, std::int64_t{-36864}, -2 * gib, end, end + gib, -8 * gib, end + 7 * gib}) {
    Altered altered{strict(Layout::flashmla),
                    [&](const kvproof_store_call& call) { flip(pool_of(call) + distance, 0xFF, call.stream); }};
    const Trial trial = try_case(arena, subject_of(altered), c);
    for (const Judgement& judged : trial.judged) {
      ASSERT_EQ(judged.wrong_bytes, 1) << distance;
      const WrongByte& wrong = judged.wrong.front();
      EXPECT_EQ(wrong.area, distance < 0 ? Area::guard_before_pool : Area::guard_after_pool);
      EXPECT_EQ(wrong.wrong, Wrong::stray);
      if (wrong.modulo == 0) {
        EXPECT_EQ(wrong.offset, distance);
      } else {
        EXPECT_EQ(wrong.modulo, mirror);
        EXPECT_EQ((wrong.offset - distance) % mirror, 0) << distance;
      }
    }
  }
}

TEST_F(GpuArena, a_row_gone_astray_is_known_by_its_bytes) {
  const Case c = small();
  Altered altered{strict(Layout::flashmla), [&](const kvproof_store_call& call) {
                    copy(pool_of(call) - 3 * gib, pool_of(call) + 3 * 576, 576, call.stream);
                  }};
  const Trial trial = try_case(arena, subject_of(altered), c);
  std::string told;
  for (const WrongByte& wrong : trial.judged[0].wrong) {
    told += describe(wrong, c, trial.expected.dialect) + "\n";
  }
  for (const char* what :
       {"guard before the pool", "modulo 16 MiB", "holds codes of tile 3 of token 0", "holds rope of token 0"}) {
    EXPECT_NE(told.find(what), std::string::npos) << what << "\n" << told.substr(0, 2000);
  }
}

TEST_F(GpuArena, set_up_again_and_again_leaks_nothing) {
  const std::int64_t pools[] = {1, 40, 1};
  for (int i = 0; i < 20; ++i) {
    Arena mine(cuda_memory());
    for (const std::int64_t gibs : pools) {
      Case c = case_of(Layout::flashmla, gibs * 1024, 64, std::int64_t{1} << 20, {5});
      EXPECT_TRUE(try_case(mine, strict(Layout::flashmla), c).judged[0].holds());
    }
  }
}

bool same(const WrongByte& a, const WrongByte& b) {
  return a.area == b.area && a.wrong == b.wrong && a.offset == b.offset && a.modulo == b.modulo && a.page == b.page &&
         a.place.region == b.place.region && a.place.slot == b.place.slot && a.place.tile == b.place.tile &&
         a.place.element == b.place.element && a.place.byte == b.place.byte && a.token == b.token &&
         a.contenders == b.contenders && a.holds_token == b.holds_token && a.holds_tile == b.holds_tile &&
         a.expected == b.expected && a.found == b.found;
}

TEST_F(GpuArena, every_finding_is_the_hosts) {
  CudaJudge judge_there;
  Draw draw(17);
  std::int64_t compared = 0;
  for (int i = 0; i < 60; ++i) {
    const Layout layout = i % 2 == 0 ? Layout::flashmla : Layout::indexer;
    const Subject subject = strict(layout);
    CaseFocus focus;
    focus.indices = {2, 3, 1, 1, 1, 1, 5, 2};
    const Case c = draw_case(draw, subject, focus, 60);
    const std::vector<std::uint8_t> indices = index_bytes_of(c);
    const auto duplicates = draw.of({Duplicates::unit, Duplicates::row, Duplicates::last, Duplicates::byte});
    Dialect dialect = subject.dialect;
    dialect.pad = i % 4 == 0 ? Pad::zero : Pad::keep;  // the kernel keeps it: then every pad byte is missing
    const Expectation expected = expect(c, dialect, duplicates, i % 3 == 0 ? Rows::left_out : Rows::encoded);
    const Expectation with_rows = expect(c, dialect, duplicates);
    Observation seen = arena.run_in_place(subject, c.shape, c.input, indices, Poison{c.poison_seed, i % 5 == 0},
                                          i % 2 == 0 ? Placement::end_flush : Placement::start_flush);
    const OnDevice on = *seen.device;
    const std::int64_t changes = draw.of({0, 1, 2, 40, 400});
    for (std::int64_t n = 0; n < changes; ++n) {
      const GuardedSpan span = draw.of({on.pool, on.pool, on.pool, on.input, on.indices});
      const auto bits = static_cast<std::uint8_t>(1 + draw.below(255));
      if (draw.one_in(12)) {
        const MirrorSpan& mirror = on.mirrors[static_cast<std::size_t>(draw.below(2))];
        flip(const_cast<std::uint8_t*>(mirror.bytes) + draw.below(mirror.size), bits, on.stream);
      } else if (span.data == on.pool.data && draw.one_in(8) && span.size > 2000) {
        copy(span.data + draw.below(span.size - 600), span.data + draw.below(span.size - 600), 1 + draw.below(576),
             on.stream);
      } else {
        const std::int64_t near = std::min<std::int64_t>(span.after, 300);
        flip(span.begin() + draw.below(span.before + span.size + near), bits, on.stream);
      }
    }
    ASSERT_EQ(device_error(on.stream), 0);
    judge_there.prepare(expected, c.input, indices, on.stream);
    const Judgement there = judge_there.judge(expected, seen, c.input);
    arena.collect(seen);
    const Judgement here = judge(with_rows, seen, c.input, indices);
    ASSERT_EQ(there.wrong_bytes, here.wrong_bytes) << i << " " << describe_call(c);
    ASSERT_EQ(there.wrong.size(), here.wrong.size());
    EXPECT_EQ(there.bytes, here.bytes);
    EXPECT_EQ(there.codes, here.codes);
    for (std::size_t k = 0; k < here.wrong.size(); ++k) {
      ASSERT_TRUE(same(there.wrong[k], here.wrong[k])) << i << ": on the GPU " << describe(there.wrong[k], c, dialect)
                                                       << "\n on the host " << describe(here.wrong[k], c, dialect);
    }
    compared += here.wrong_bytes;
  }
  fmt::print("{} findings compared\n", compared);
  EXPECT_GT(compared, 1000);
}

// Pools past a power of two, a few tokens around it: codes, rope and scales each once on either side.
class Past : public testing::TestWithParam<std::tuple<Layout, int>> {};

TEST_P(Past, the_row_is_at_the_right_place_and_not_at_the_wrapped_one) {
  const auto [layout, power] = GetParam();
  const std::int64_t boundary = std::int64_t{1} << power;
  constexpr std::int64_t stride = 1048320;  // near 1 MiB, a multiple of 576: the packed form of many layers
  constexpr std::int64_t page_size = 64;
  const std::int64_t last = boundary / stride + 2;
  std::vector<std::int64_t> indices;
  for (std::int64_t page = boundary / stride - 1; page <= last; ++page) {
    for (const std::int64_t slot : {0, 1, 31, 63}) {
      indices.push_back(page * page_size + slot);
    }
  }
  const Case c = case_of(layout, last + 1, page_size, stride, indices);
  Arena arena(cuda_memory());
  const Trial right = try_case(arena, strict(layout), c);
  EXPECT_TRUE(right.judged[0].holds()) << summarise(right.judged[0]);
  EXPECT_TRUE(right.judged[1].holds()) << summarise(right.judged[1]);
  EXPECT_EQ(right.judged[0].codes, c.shape.tokens * layout_shape(layout).codes);

  // The last token's row once more where an offset of `power` bits puts it: at the front of the pool, or before it.
  const std::int64_t page = last;
  const std::int64_t data = page * stride + data_offset(layout, 63);
  const int bytes = layout_shape(layout).data_bytes;
  for (const std::int64_t wrapped : {data - boundary, data - 2 * boundary}) {
    if (wrapped < -8 * gib) {
      continue;
    }
    Altered altered{strict(layout), [&, from = data, to = wrapped](const kvproof_store_call& call) {
                      copy(pool_of(call) + to, pool_of(call) + from, bytes, call.stream);
                    }};
    const Trial wrong = try_case(arena, subject_of(altered), c);
    ASSERT_GT(wrong.judged[0].wrong_bytes, bytes * 9 / 10) << wrapped;
    ASSERT_LE(wrong.judged[0].wrong_bytes, bytes);
    const WrongByte& first = wrong.judged[0].wrong.front();
    EXPECT_EQ(first.area, wrapped < 0 ? Area::guard_before_pool : Area::pool);
    const std::int64_t off = first.modulo == 0 ? first.offset - wrapped : (first.offset - wrapped) % first.modulo;
    EXPECT_LT(std::abs(off), 4) << first.offset << " " << wrapped;
    EXPECT_EQ(first.holds_token, c.shape.tokens - 1);
  }
}

INSTANTIATE_TEST_SUITE_P(PowersOfTwo, Past,
                         testing::Combine(testing::Values(Layout::flashmla, Layout::indexer), testing::Values(31, 32, 33)));

// A device that has faulted is lost to its process, so each of these has one of its own: the test program again.
int status_of_probe(const std::string& what) {
  const std::string command = fmt::format("KVPROOF_PROBE={} '{}' >/dev/null 2>&1", what, [] {
    char path[4096] = {};
    const auto length = readlink("/proc/self/exe", path, sizeof path - 1);
    return std::string(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  }());
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(GpuOverReads, fault_at_the_edge_and_not_before_it) {
  EXPECT_EQ(status_of_probe("last"), 0);
  EXPECT_EQ(status_of_probe("past-end"), 7);
  EXPECT_EQ(status_of_probe("first"), 0);
  EXPECT_EQ(status_of_probe("before-start"), 7);
  EXPECT_EQ(status_of_probe("past-guards"), 7);
  EXPECT_EQ(status_of_probe("far-past-end"), 7);
}

TEST(GpuOverReads, return_where_their_buffer_lies_loose) {
  EXPECT_EQ(status_of_probe("past-end-with-loose-input"), 0);
  EXPECT_EQ(status_of_probe("past-end-with-loose-indices"), 7);
  EXPECT_EQ(status_of_probe("before-start-with-loose-input"), 0);
  EXPECT_EQ(status_of_probe("before-start-with-loose-indices"), 7);
}

// 0: nothing happened; 7: the device faulted.
int probe(const std::string& what) {
  const Case c = case_of(Layout::flashmla, 2, 64, 37440, {3, 4});
  const std::string place = what.substr(0, what.find("-with"));
  const bool start = place == "first" || place == "before-start";
  const Placement placement = start ? Placement::start_flush : Placement::end_flush;
  Altered altered{strict(Layout::flashmla), [&](const kvproof_store_call& call) {
                    const auto* input = static_cast<const std::uint8_t*>(call.input);
                    const std::int64_t size = c.shape.input_bytes();
                    const std::int64_t at = place == "last"           ? size - 1
                                            : place == "past-end"     ? size
                                            : place == "far-past-end" ? size + gib
                                            : place == "first"        ? 0
                                                                      : -1;
                    if (place == "past-guards") {
                      poke(pool_of(call) - 9 * gib, 1, call.stream);
                    } else {
                      peek(input + at, call.stream);
                    }
                  }};
  try {
    Arena arena(cuda_memory());
    if (place != what) {
      arena.loosen(Loosened{what.ends_with("loose-input") ? Given::input : Given::indices, placement});
    }
    arena.run_in_place(subject_of(altered), c.shape, c.input, index_bytes_of(c), Poison{1, false}, placement);
  } catch (const std::exception&) {
    return 7;
  }
  return 0;
}

}  // namespace
}  // namespace kvproof

// Without a GPU these tests fail: a lane that skips everything has proved nothing.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string absence = kvproof::cuda_absence();
  if (!absence.empty()) {
    fmt::print(stderr, "arena_gpu_test: no CUDA device: {}\n", absence);
    return 1;
  }
  if (const char* what = std::getenv("KVPROOF_PROBE")) {
    return kvproof::probe(what);
  }
  fmt::print("device: {}\n", kvproof::cuda_memory()->device());
  return RUN_ALL_TESTS();
}
