// What a proof tells of a kernel that is wrong in some calls only, that a declared error excuses, or that ends its process.
// This program is its own worker.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "changed_rows.h"
#include "kvproof/device/store_call.h"
#include "kvproof/properties/case_file.h"
#include "kvproof/properties/prove.h"
#include "kvproof/properties/worker.h"
#include "kvproof/reference/declared_error.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/model.h"

namespace kvproof {
namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("kvproof-prove-findings-test-" + std::to_string(getpid()));
  ~Folder() { std::filesystem::remove_all(path); }
};

constexpr ProofTask non_finite{Domain::non_finite, ElementType::bf16, Fp8::e4m3fn, {}, {}};

ProofResult prove(const Subject& subject, const ProofTask& task, const std::filesystem::path& save = {}) {
  Arena arena(host_memory(), {std::int64_t{64} << 20});
  ProveOptions options;
  options.save = save;
  return prove_domain(*run_here(arena, subject), subject, task, options, [](const ProofResult&) {});
}

bool has_note(const ProofResult& result, const std::string& words) {
  const auto& notes = result.failure.value().notes;
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

bool breaks(const Subject& subject, const std::filesystem::path& file) {
  Arena arena(host_memory(), {std::int64_t{64} << 20});
  return run_here(arena, subject)->run_whole(read_cases(file).cases.front().run).breach.has_value();
}

// --- by index type

std::int32_t wrong_with_int64(void* state, const kvproof_store_call* call, const char** message) {
  return changed(state, call, message, [&](auto element, const LayoutShape&, std::uint8_t* data, std::uint8_t*) {
    if (call->index_type == KVPROOF_INT64 && element(3) == 0x7F80) {
      data[3] ^= 1;
    }
  });
}

TEST(ProofFindings, IndexTypesTakeTurnsAndAWrongOneIsTheCases) {
  const Folder folder;
  const Subject subject = planted::subject(Layout::flashmla, wrong_with_int64);
  const ProofResult turns = prove(subject, non_finite, folder.path);
  ASSERT_TRUE(turns.failure);
  EXPECT_EQ(read_cases(turns.failure->file).cases.front().run.shape.index_type, IndexType::int64);
  EXPECT_TRUE(breaks(subject, turns.failure->file));
  ProofTask task = non_finite;
  task.index = IndexType::int32;
  EXPECT_TRUE(prove(subject, task).proved());
  task.index = IndexType::int64;
  EXPECT_TRUE(prove(subject, task).failure);
}

// --- by the rows of a call

template <std::int64_t most>
std::int32_t takes_at_most(void* state, const kvproof_store_call* call, const char** message) {
  *message = "too many tokens";
  return call->tokens > most ? KVPROOF_REFUSED : planted::right(state, call, message);
}

TEST(ProofFindings, CallsAreAsLargeAsTheKernelTakes) {
  const ProofResult some = prove(planted::subject(Layout::flashmla, takes_at_most<200>), non_finite);
  EXPECT_TRUE(some.proved());
  EXPECT_EQ(some.rows_a_call, 128);
  ASSERT_EQ(some.refused_calls.size(), 1U);
  EXPECT_EQ(some.refused_calls.front().rows, 1024);
  EXPECT_EQ(some.refused_calls.front().refusal, "too many tokens");
  EXPECT_TRUE(some.refused_pages.empty());
  const ProofResult one = prove(planted::subject(Layout::indexer, takes_at_most<3>), non_finite);
  EXPECT_TRUE(one.proved());
  EXPECT_EQ(one.rows_a_call, 1);
}

// Wrong in the second of two rows that follow each other with an infinity at element 3 and one at element 4.
std::int32_t wrong_beside_another(void* state, const kvproof_store_call* call, const char** message) {
  bool before = false;
  return changed(state, call, message, [&](auto element, const LayoutShape&, std::uint8_t* data, std::uint8_t*) {
    if (before && element(4) == 0x7F80) {
      data[4] ^= 1;
    }
    before = element(3) == 0x7F80;
  });
}

TEST(ProofFindings, RowsThatAreWrongTogetherAreFiledTogether) {
  const Folder folder;
  const Subject subject = planted::subject(Layout::indexer, wrong_beside_another);
  const ProofResult result = prove(subject, non_finite, folder.path);
  ASSERT_TRUE(result.failure);
  EXPECT_TRUE(has_note(result, "this row alone is stored right: a call of rows ")) << result.failure->notes.back();
  EXPECT_LE(read_cases(result.failure->file).cases.front().run.shape.tokens, 64);
  EXPECT_TRUE(breaks(subject, result.failure->file));
}

TEST(ProofFindings, WhatCannotBeSavedIsToldAllTheSame) {
  const ProofResult result = prove(planted::subject(Layout::indexer, wrong_with_int64), non_finite, "/proc/kvproof");
  ASSERT_TRUE(result.failure);
  EXPECT_NE(result.failure->summary.find("code "), std::string::npos);
  EXPECT_TRUE(result.failure->file.empty());
  EXPECT_TRUE(has_note(result, "not saved: ")) << result.failure->notes.back();
}

// --- by a declared error

// The indexer of a dialect that declares an error of 1 ulp, with reciprocals off by `ulp`; with `by_two`, some codes by two.
struct Approximate {
  Dialect dialect;
  int ulp = 0;
  bool by_two = false;
};

std::int32_t store_approximately(void* state, const kvproof_store_call* call, const char** message) {
  const auto& how = *static_cast<const Approximate*>(state);
  const StoreShape s = shape_of(*call);
  const std::uint8_t limit = fp8_limit_code(s.fp8, dialect_limit(how.dialect, s.fp8));
  const auto* input = static_cast<const std::uint8_t*>(call->input);
  const auto* indices = static_cast<const std::uint8_t*>(call->index);
  for (std::int64_t token = 0; token < s.tokens; ++token) {
    const std::uint8_t* row = input + token * s.row_stride;
    const auto value = [&](int i) { return element_to_f32(element_bits(row, s.input_type, i), s.input_type); };
    RowImage image;
    model::encode_row(row, s.input_type, how.dialect, s.fp8, &image);
    F32 amax = 0;
    for (int i = 0; i < 128; ++i) {
      amax = std::max(amax, amax_contribution(value(i), how.dialect.infinity));
    }
    TileScale scale = tile_scale(amax, how.dialect, s.fp8);
    const F32 neighbour = f32_neighbour(scale.operand, how.ulp);
    scale.operand = f32_is_nan(neighbour) ? scale.operand : neighbour;
    for (int i = 0; i < 128; ++i) {
      const std::uint8_t code = quantise(value(i), scale, how.dialect, s.fp8, limit);
      image.data[i] = static_cast<std::uint8_t>(how.by_two && code != image.data[i] ? code ^ 2 : code);
    }
    const std::int64_t index = index_at(indices, s.index_type, token);
    const std::int64_t slot = index % s.page_size;
    std::uint8_t* page = static_cast<std::uint8_t*>(call->cache) + index / s.page_size * s.page_stride;
    std::copy(image.data, image.data + 128, page + data_offset(s.layout, slot));
    std::copy(image.scales, image.scales + 4, page + scale_offset(s.layout, slot, s.page_size));
  }
  *message = nullptr;
  return KVPROOF_STORED;
}

ProofResult prove_approximate(Approximate how) {
  const NamedDialect& named = *find_dialect("sglang-triton", Layout::indexer);
  how.dialect = named.dialect;
  Subject subject = planted::subject(Layout::indexer, store_approximately);
  subject.dialect_name = "sglang-triton";
  subject.dialect = named.dialect;
  subject.state = &how;
  return prove(subject, {Domain::codes, ElementType::bf16, Fp8::e4m3fn, {60, 100}, {}});
}

TEST(ProofFindings, ADeclaredErrorIsCountedAndShownAndNothingElseExcused) {
  const ProofResult exact = prove_approximate({});
  EXPECT_TRUE(exact.proved());
  EXPECT_EQ(exact.explained, 0);
  const ProofResult off = prove_approximate({.dialect = {}, .ulp = 1});
  EXPECT_TRUE(off.proved()) << (off.failure ? off.failure->summary : "");
  EXPECT_GT(off.explained, 1000);
  EXPECT_NE(off.explained_example.find(": code 0x"), std::string::npos) << off.explained_example;
  EXPECT_EQ(off.pairs, off.wanted);
  for (const Approximate& wrong : {Approximate{{}, 3, false}, Approximate{{}, 1, true}}) {
    const ProofResult result = prove_approximate(wrong);
    ASSERT_TRUE(result.failure) << wrong.ulp;
    EXPECT_NE(result.failure->summary.find(": code 0x"), std::string::npos) << result.failure->summary;
  }
}

// --- by what ends its process

std::int32_t aborts_at_one_value(void* state, const kvproof_store_call* call, const char** message) {
  return changed(state, call, message, [](auto element, const LayoutShape& shape, std::uint8_t*, std::uint8_t*) {
    if (element(shape.tile - 2) == 0xFF80) {
      std::abort();
    }
  });
}

std::int32_t aborts_at_its_tenth_call(void* state, const kvproof_store_call* call, const char** message) {
  static int calls = 0;
  if (++calls >= 10) {
    std::abort();
  }
  return planted::right(state, call, message);
}

std::vector<Subject> kernels(const KernelSource&) {
  return {planted::subject(Layout::flashmla, aborts_at_one_value),
          planted::subject(Layout::flashmla, aborts_at_its_tenth_call)};
}

ProofResult prove_in_child(std::size_t number, const std::filesystem::path& save) {
  const auto worker = std::make_shared<Worker>(
      WorkerSetup{{"worker"}, {"planted", "host"}, {std::chrono::milliseconds(5000), std::int64_t{1} << 30}});
  ProveOptions options;
  options.save = save;
  return prove_domain(*run_in_child(worker, number), worker->subjects().at(number), non_finite, options,
                      [](const ProofResult&) {});
}

TEST(ProofFindings, TheRowThatEndsTheProcessIsFoundAndMadeSmall) {
  const Folder folder;
  const ProofResult result = prove_in_child(0, folder.path);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->summary, "the kernel aborted: SIGABRT");
  EXPECT_TRUE(has_note(result, "0xff80 (-inf) at tile 0 element 62, all others zero")) << result.failure->notes.back();
  EXPECT_TRUE(has_note(result, "it ran row ")) << result.failure->notes.back();
  EXPECT_EQ(read_cases(result.failure->file).cases.front().run.shape.tokens, 1);
}

TEST(ProofFindings, WhatComesOfEarlierCallsIsNotBlamedOnARow) {
  const Folder folder;
  const ProofResult result = prove_in_child(1, folder.path);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->summary, "the kernel aborted: SIGABRT");
  EXPECT_TRUE(has_note(result, "it ran rows ")) << result.failure->notes.back();
  EXPECT_TRUE(result.failure->file.empty());
}

}  // namespace

std::vector<Subject> kernels_of_this_program(const KernelSource& source) { return kernels(source); }

}  // namespace kvproof

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "worker") {
    return kvproof::serve_cases(std::atoi(argv[2]), kvproof::kernels_of_this_program);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
