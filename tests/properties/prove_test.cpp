// A proof compares exactly its domain, and a kernel that is wrong at one place of it is caught and the place named. This
// program is its own worker.
#include "kvproof/properties/prove.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "changed_rows.h"
#include "kvproof/properties/case_file.h"
#include "kvproof/properties/worker.h"
#include "kvproof/reference/dialects.h"

namespace kvproof {
namespace {

// Wrong for one pair: amax 1.75 * 2^-3, of which each layout has its own group, and x = -0x3d77.
constexpr std::uint32_t bad_amax = 0x3E60;
constexpr std::uint32_t bad_x = 0xBD77;

std::int32_t one_pair(void* state, const kvproof_store_call* call, const char** message) {
  return changed(state, call, message, [](auto element, const LayoutShape& shape, std::uint8_t* data, std::uint8_t*) {
    for (int i = 0; i < shape.codes; ++i) {
      if (element(i) == bad_x && amax_of(element, shape, i / shape.tile) == bad_amax) {
        data[i] ^= 1;
      }
    }
  });
}

// Wrong at one lane only, and there only for magnitudes of one binade.
std::int32_t one_position(void* state, const kvproof_store_call* call, const char** message) {
  return changed(state, call, message, [](auto element, const LayoutShape& shape, std::uint8_t* data, std::uint8_t*) {
    const int at = shape.codes - 27;
    if ((element(at) & 0x7F80U) == 0x3F00U) {
      data[at] ^= 1;
    }
  });
}

std::int32_t one_scale(void* state, const kvproof_store_call* call, const char** message) {
  return changed(state, call, message, [](auto element, const LayoutShape& shape, std::uint8_t*, std::uint8_t* scales) {
    const int tile = shape.tiles - 1;
    if (amax_of(element, shape, tile) == 0x4321) {
      scales[tile * shape.bytes_per_scale] ^= 1;
    }
  });
}

std::int32_t one_rope(void* state, const kvproof_store_call* call, const char** message) {
  return changed(state, call, message, [](auto element, const LayoutShape& shape, std::uint8_t* data, std::uint8_t*) {
    if (element(shape.codes + 41) == 0x7F81) {
      data[shape.codes + 2 * 41] ^= 0x40;
    }
  });
}

// The last call of a domain is shorter than the others and refused; the proof must not pass without its rows.
std::int32_t refuses_short_calls(void* state, const kvproof_store_call* call, const char** message) {
  *message = "not a whole block";
  return call->tokens % 1024 != 0 ? KVPROOF_REFUSED : planted::right(state, call, message);
}

// Wrong for the same pair, and only in pages without a tail are its calls taken.
std::int32_t one_pair_in_tight_pages(void* state, const kvproof_store_call* call, const char** message) {
  *message = "pages with a tail";
  const std::int64_t tight = smallest_page_stride(static_cast<Layout>(call->layout), call->page_size);
  return call->page_stride != tight ? KVPROOF_REFUSED : one_pair(state, call, message);
}

std::int32_t aborts_later(void* state, const kvproof_store_call* call, const char** message) {
  static int calls = 0;
  if (++calls > 5) {
    std::abort();
  }
  return planted::right(state, call, message);
}

std::int32_t hangs(void*, const kvproof_store_call*, const char**) {
  for (;;) {
    pause();
  }
}

std::vector<Subject> load(const KernelSource&) {
  std::vector<Subject> all;
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    for (const auto& [name, store] : {std::pair<const char*, kvproof_store_fn>{"right", planted::right},
                                      {"aborts_later", aborts_later},
                                      {"hangs", hangs}}) {
      all.push_back(planted::subject(layout, store));
      all.back().name = name;
    }
  }
  return all;
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("kvproof-prove-test-" + std::to_string(getpid()));
  ~Folder() { std::filesystem::remove_all(path); }
};

ProofResult prove(Layout layout, kvproof_store_fn store, ProofTask task, const std::filesystem::path& save = {}) {
  Arena arena(host_memory(), {std::int64_t{64} << 20});
  const Subject subject = planted::subject(layout, store);
  ProveOptions options;
  options.save = save;
  return prove_domain(*run_here(arena, subject), subject, task, options, [](const ProofResult&) {});
}

ProofDomain domain(Domain which, Layout layout, ElementType input = ElementType::bf16, Fp8 fp8 = Fp8::e4m3fn,
                   const char* dialect = "strict") {
  return {which, find_dialect(dialect, layout)->dialect, input, fp8};
}

TEST(ProofDomain, CountsAreTheKnownNumbers) {
  EXPECT_EQ(domain(Domain::scales, Layout::flashmla).pairs(), 456'960 * 64);
  EXPECT_EQ(domain(Domain::scales, Layout::indexer).pairs(), 32'640 * 2 * 128);
  EXPECT_EQ(domain(Domain::codes, Layout::indexer).pairs(), 1'065'402'240);
  EXPECT_EQ(domain(Domain::codes, Layout::indexer, ElementType::fp16).pairs(), std::int64_t{31'744} * 31'745);
  EXPECT_EQ(domain(Domain::pairs, Layout::flashmla).pairs(), 1'065'402'240);
  EXPECT_EQ(domain(Domain::pairs, Layout::flashmla, ElementType::fp16).pairs(), std::int64_t{31'744} * 31'745);
  EXPECT_TRUE(domain(Domain::pairs, Layout::flashmla, ElementType::fp32).empty());
  EXPECT_TRUE(domain(Domain::pairs, Layout::indexer).empty());  // they are its codes
  EXPECT_EQ(domain(Domain::codes, Layout::flashmla, ElementType::fp32).pairs(), 4'278'190'080);
  EXPECT_EQ(domain(Domain::rope, Layout::flashmla).pairs(), 65'536 * 64);
  EXPECT_TRUE(domain(Domain::rope, Layout::indexer).empty());
  EXPECT_TRUE(domain(Domain::non_finite, Layout::flashmla, ElementType::bf16, Fp8::e4m3fn, "vllm-triton").empty());
  // Bytes 105 to 247, the largest amax of byte b being 1.75 * 2^(b - 119), and the largest bf16 for the last.
  std::int64_t pairs = 2 * 0x7F80;
  for (std::int64_t byte = 105; byte < 247; ++byte) {
    pairs += 2 * (((byte + 8) * 128 + 0x60) + 1);
  }
  EXPECT_EQ(domain(Domain::codes, Layout::flashmla).pairs(), pairs);
}

TEST(ProofDomain, EveryCodePairIsMadeOnce) {
  for (const Fp8 fp8 : {Fp8::e4m3fn, Fp8::e4m3fnuz}) {
    const Dialect dialect = find_dialect("strict", Layout::flashmla)->dialect;
    const ProofDomain codes(Domain::codes, dialect, ElementType::bf16, fp8);
    std::map<std::uint32_t, std::set<std::uint32_t>> seen;  // stored scale to x
    std::vector<std::uint8_t> row(1024);
    for (std::int64_t at = 0; at < codes.rows(); ++at) {
      codes.make_row(at, row.data());
      const auto element = [&](int i) { return element_bits(row.data(), ElementType::bf16, i); };
      for (int tile = 0; tile < 7; ++tile) {
        auto& met = seen[tile_scale(amax_of(element, layout_shape(Layout::flashmla), tile) << 16, dialect, fp8).stored];
        for (int i = 0; i < 64; ++i) {
          met.insert(element(tile * 64 + i));
        }
      }
    }
    std::int64_t pairs = 0;
    for (const auto& [scale, met] : seen) {
      pairs += static_cast<std::int64_t>(met.size());
    }
    EXPECT_EQ(pairs, codes.pairs());
    for (std::uint32_t amax = 0; amax < 0x7F80; ++amax) {  // every reachable scale has every x that it can meet
      const auto& met = seen.at(tile_scale(amax << 16, dialect, fp8).stored);
      ASSERT_TRUE(met.contains(amax) && met.contains(amax | 0x8000U)) << amax;
    }
  }
}

TEST(ProofDomain, PairsHoldEveryXUpToEveryAmax) {
  constexpr std::uint32_t amaxes = 400;
  const ProofDomain pairs = domain(Domain::pairs, Layout::flashmla);
  std::set<std::pair<std::uint32_t, std::uint32_t>> met;
  std::vector<std::uint8_t> row(1024);
  for (std::int64_t at = 0; at * 7 < pairs.groups()[amaxes].first_tile; ++at) {
    pairs.make_row(at, row.data());
    const auto element = [&](int i) { return element_bits(row.data(), ElementType::bf16, i); };
    for (int i = 0; i < 448; ++i) {
      met.insert({amax_of(element, layout_shape(Layout::flashmla), i / 64), element(i)});
    }
  }
  for (std::uint32_t amax = 0; amax < amaxes; ++amax) {
    for (std::uint32_t x = 0; x <= amax; ++x) {
      ASSERT_TRUE(met.contains({amax, x}) && met.contains({amax, x | 0x8000U})) << amax << " " << x;
    }
  }
  EXPECT_EQ(pairs.groups()[amaxes].first_pair, std::int64_t{amaxes} * (amaxes + 1));
}

// A kernel may err for negative values in odd elements only, at some amax.
TEST(ProofDomain, EverySignMeetsEveryElementUnderEachAmax) {
  for (const auto& [pairs, tile_values] :
       {std::pair{domain(Domain::pairs, Layout::flashmla), 64}, std::pair{domain(Domain::codes, Layout::flashmla), 64},
        std::pair{domain(Domain::codes, Layout::indexer), 128}}) {
    for (const std::uint32_t amax : {0x3F80U, 0x3FE0U, 0x7F7FU}) {
      std::int64_t group = 0;
      while (group + 1 < pairs.view().group_count && pairs.groups()[static_cast<std::size_t>(group)].amax < amax) {
        ++group;
      }
      const CodeGroup& g = pairs.groups()[static_cast<std::size_t>(group)];
      std::set<std::pair<std::uint32_t, int>> others;
      std::set<std::pair<std::uint32_t, int>> largest;
      for (std::int64_t tile = g.first_tile; (tile - g.first_tile) * (tile_values - 1) < g.pairs; ++tile) {
        const TilePlan plan = codes_tile(pairs.view(), tile, g, tile_values);
        largest.insert({plan.pattern & 0x8000U, plan.place});
        for (int i = 0; i < plan.pairs; ++i) {
          const int element = (plan.place + 1 + i) % tile_values;
          others.insert({tile_element(plan, 0x8000U, tile_values, element) & 0x8000U, element});
        }
      }
      EXPECT_EQ(others.size(), static_cast<std::size_t>(2 * tile_values)) << g.amax;
      EXPECT_EQ(largest.size(), static_cast<std::size_t>(2 * tile_values)) << g.amax;
    }
  }
}

TEST(ProofDomain, ScalesAndPositionsMeetEveryPlace) {
  const ProofDomain positions = domain(Domain::positions, Layout::flashmla);
  std::set<std::tuple<int, int, int, int>> places;
  for (std::int64_t row = 0; row < positions.rows(); ++row) {
    for (int tile = 0; tile < 7; ++tile) {
      const TilePlan plan = tile_plan(positions.view(), row, tile, nullptr);
      places.insert({tile, plan.place, plan.second_place, static_cast<int>(row % position_samples)});
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(places.size()), positions.pairs());
  const ProofDomain scales = domain(Domain::scales, Layout::flashmla);
  std::vector<bool> seen(static_cast<std::size_t>(scales.pairs()));
  std::int64_t met = 0;
  for (std::int64_t row = 0; row < scales.rows(); ++row) {
    for (int tile = 0; tile < 7; ++tile) {
      const TilePlan plan = tile_plan(scales.view(), row, tile, nullptr);
      const std::size_t at =
          ((plan.pattern & 0x7FFFU) * 2 + (plan.pattern >> 15)) * 448U + static_cast<std::size_t>(plan.place * 7 + tile);
      met += seen[at] ? 0 : 1;
      seen[at] = true;
    }
  }
  EXPECT_EQ(met, scales.pairs());
}

TEST(ProofDomain, ShardsCoverEveryRowOnce) {
  for (const Domain which :
       {Domain::scales, Domain::codes, Domain::rope, Domain::non_finite, Domain::positions, Domain::pairs}) {
    const ProofDomain all = domain(which, Layout::flashmla);
    for (const std::int64_t of : {std::int64_t{1}, std::int64_t{3}, std::int64_t{7}, std::int64_t{100'000'000}}) {
      std::int64_t row = 0;
      std::int64_t pairs = 0;
      for (std::int64_t number = 1; number <= std::min<std::int64_t>(of, 7); ++number) {
        const Shard shard{number, of};
        ASSERT_EQ(shard.begin(all.rows()), row);
        row = shard.end(all.rows());
        pairs += all.pairs(shard.begin(all.rows()), row);
      }
      EXPECT_EQ(Shard({of, of}).end(all.rows()), all.rows());
      EXPECT_TRUE(of > 7 || pairs == all.pairs());
    }
  }
}

TEST(Prove, TheModelIsProvedAndItsPairsCounted) {
  for (const Domain which : {Domain::codes, Domain::rope, Domain::non_finite, Domain::positions}) {
    for (const ElementType input : {ElementType::bf16, ElementType::fp16}) {
      const ProofTask task{which, input, Fp8::e4m3fnuz, {2, 3}};
      const ProofResult result = prove(Layout::flashmla, planted::right, task);
      EXPECT_TRUE(result.proved()) << name_of(which) << (result.failure ? result.failure->summary : "");
      EXPECT_EQ(result.pairs, result.wanted);
      EXPECT_GT(result.pairs, 0);
    }
  }
}

void expect_named(Layout layout, kvproof_store_fn store, const ProofTask& task, const std::string& words) {
  const Folder folder;
  const ProofResult result = prove(layout, store, task, folder.path);
  ASSERT_TRUE(result.failure) << words;
  EXPECT_NE(result.failure->summary.find(words), std::string::npos) << result.failure->summary;
  const FiledCase filed = read_cases(result.failure->file).cases.front();
  Arena arena(host_memory(), {std::int64_t{64} << 20});
  EXPECT_TRUE(run_here(arena, planted::subject(layout, store))->run_whole(filed.run).breach);
  EXPECT_FALSE(run_here(arena, planted::subject(layout, planted::right))->run_whole(filed.run).breach);
}

TEST(Prove, OneWrongPairIsCaughtAndNamed) {
  const std::string words = "amax 0x3e60 (0.21875), x 0xbd77 (-0.060302734): code ";
  expect_named(Layout::flashmla, one_pair, {Domain::codes, ElementType::bf16, Fp8::e4m3fn, {}}, words);
  // The part of the indexer's domain that holds the amax: a share of (0x3e60 / 0x7f80)^2 lies before it.
  expect_named(Layout::indexer, one_pair, {Domain::codes, ElementType::bf16, Fp8::e4m3fn, {24, 100}}, words);
}

// 0x3e50 has the scale of 0x3e60, and so `codes` does not have it: only a kernel that forgets the scale tells them apart.
std::int32_t one_pair_below_the_edge(void* state, const kvproof_store_call* call, const char** message) {
  return changed(state, call, message, [](auto element, const LayoutShape& shape, std::uint8_t* data, std::uint8_t*) {
    for (int i = 0; i < shape.codes; ++i) {
      if (element(i) == bad_x && amax_of(element, shape, i / shape.tile) == 0x3E50) {
        data[i] ^= 1;
      }
    }
  });
}

TEST(Prove, AnAmaxWithinAScaleIsCaughtByItsPairs) {
  EXPECT_TRUE(
      prove(Layout::flashmla, one_pair_below_the_edge, {Domain::codes, ElementType::bf16, Fp8::e4m3fn, {}}).proved());
  expect_named(Layout::flashmla, one_pair_below_the_edge, {Domain::pairs, ElementType::bf16, Fp8::e4m3fn, {24, 100}},
               "amax 0x3e50 (0.203125), x 0xbd77 (-0.060302734): code ");
}

TEST(Prove, AWrongPairIsFiledInThePagesThatTheKernelTakes) {
  expect_named(Layout::flashmla, one_pair_in_tight_pages, {Domain::codes, ElementType::bf16, Fp8::e4m3fn, {}},
               "amax 0x3e60 (0.21875), x 0xbd77 (-0.060302734): code ");
}

TEST(Prove, PagesAreTriedFromTheUsualOnesOn) {
  Subject subject = planted::subject(Layout::flashmla, planted::right);
  std::vector<ProofPages> all = pages_to_try(subject);
  EXPECT_EQ(all.front(), (ProofPages{64, 37'440}));
  EXPECT_EQ(std::count(all.begin(), all.end(), ProofPages{1, 584}), 1);
  subject.memory = MemoryKind::cuda;  // where rows are read 16 bytes at a time
  for (const ProofPages& pages : pages_to_try(subject)) {
    EXPECT_EQ(pages.stride % 16, 0);
    EXPECT_LE(pages.stride, 4 * smallest_page_stride(Layout::flashmla, pages.size));
  }
  subject.page_sizes = {2, 64};
  all = pages_to_try(subject);
  EXPECT_EQ(all.front().size, 64);
  EXPECT_EQ(all.back().size, 2);
  subject.page_sizes = {100};
  for (const ProofPages& pages : pages_to_try(subject)) {
    EXPECT_EQ(pages.size, 100);
  }
}

TEST(Prove, OneWrongPlaceScaleOrRopeValueIsCaughtAndNamed) {
  const ProofTask positions{Domain::positions, ElementType::bf16, Fp8::e4m3fn, {}};
  expect_named(Layout::flashmla, one_position, positions, "at tile 6 element 37; input bf16, e4m3fn");
  expect_named(Layout::indexer, one_position, positions, "at tile 0 element 101; input bf16, e4m3fn");
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    // 0x4321 is number 17,185 of 32,640; tile 6 is 27,978 ahead of tile 0.
    const bool indexer = layout == Layout::indexer;
    expect_named(
        layout, one_scale,
        {Domain::scales, ElementType::bf16, Fp8::e4m3fn, {1 + (indexer ? 17'185 : 17'185 - 27'978 + 32'640), 32'640}},
        "amax 0x4321 (161) from 0x4321 (161) at element ");
  }
  expect_named(Layout::flashmla, one_rope, {Domain::rope, ElementType::bf16, Fp8::e4m3fn, {}},
               "rope value 0x7f81 (nan) at place 41: 0x7fc1, expected 0x7f81");
}

TEST(Prove, WhatIsRefusedIsNotProved) {
  const ProofTask task{Domain::non_finite, ElementType::bf16, Fp8::e4m3fn, {}};
  const ProofResult none = prove(Layout::flashmla, planted::refuses_all, task);
  EXPECT_TRUE(none.compared_nothing());
  EXPECT_FALSE(none.proved());
  EXPECT_EQ(none.refusal, "not today");
  EXPECT_EQ(none.refused_pages.size(), pages_to_try(planted::subject(Layout::flashmla, planted::refuses_all)).size());
  const ProofResult some = prove(Layout::flashmla, refuses_short_calls, task);
  ASSERT_TRUE(some.failure);
  EXPECT_EQ(some.failure->summary, std::to_string(some.pairs) + " pairs were compared, the domain has 67200");
  EXPECT_FALSE(some.proved());
  EXPECT_EQ(prove(Layout::flashmla, planted::fails_always, task).failure.value().summary, "the kernel failed: out of luck");
}

TEST(Prove, AKernelThatEndsItsProcessOrHangsFails) {
  const auto worker = std::make_shared<Worker>(
      WorkerSetup{{"worker"}, {"planted", "host"}, {std::chrono::milliseconds(2000), std::int64_t{1} << 30}});
  const ProofTask task{Domain::positions, ElementType::bf16, Fp8::e4m3fn, {}};
  const std::map<std::string, std::string> expected{
      {"right", ""}, {"aborts_later", "the kernel aborted: SIGABRT"}, {"hangs", "the kernel did not return within 2 s"}};
  for (std::size_t i = 0; i < 3; ++i) {
    const Subject subject = worker->subjects().at(i);
    ProveOptions options;
    options.more = {[&] {
      return run_in_child(std::make_shared<Worker>(WorkerSetup{
                              {"worker"}, {"planted", "host"}, {std::chrono::milliseconds(2000), std::int64_t{1} << 30}}),
                          i);
    }};
    const ProofResult result = prove_domain(*run_in_child(worker, i), subject, task, options, [](const ProofResult&) {});
    EXPECT_EQ(result.failure ? result.failure->summary : "", expected.at(subject.name));
    EXPECT_EQ(result.proved(), subject.name == "right");
  }
}

}  // namespace

std::vector<Subject> kernels_of_this_program(const KernelSource& source) { return load(source); }

}  // namespace kvproof

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "worker") {
    return kvproof::serve_cases(std::atoi(argv[2]), kvproof::kernels_of_this_program);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
