// Whole domains on the GPU: both production kernels, every pair counted, and one wrong pair found and named.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "kvproof/properties/case_file.h"
#include "kvproof/properties/prove.h"
#include "kvproof/reference/names.h"
#include "one_pair.h"

namespace kvproof {
namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("kvproof-prove-gpu-test-" + std::to_string(getpid()));
  ~Folder() { std::filesystem::remove_all(path); }
};

std::vector<Subject> subjects(const std::string& dialect) {
  std::vector<Subject> found;
  for (const Subject& subject : builtin_cuda_subjects()) {
    if (subject.dialect_name == dialect) {
      found.push_back(subject);
    }
  }
  return found;
}

class GpuProof : public testing::Test {
 protected:
  ProofResult prove(const Subject& subject, const ProofTask& task, const std::filesystem::path& save = {}) {
    ProveOptions options;
    options.save = save;
    return prove_domain(*run_here(arena, subject), subject, task, options, [](const ProofResult&) {});
  }

  Arena arena{cuda_memory()};
};

// From the formulas of the domains: 32,640 magnitudes, the bytes that they reach, and what each byte meets.
const std::map<std::pair<Layout, Domain>, std::int64_t> strict_pairs{
    {{Layout::flashmla, Domain::scales}, 29'245'440},  {{Layout::flashmla, Domain::codes}, 6'763'420},
    {{Layout::flashmla, Domain::rope}, 4'194'304},     {{Layout::flashmla, Domain::non_finite}, 67'200},
    {{Layout::flashmla, Domain::positions}, 169'344},  {{Layout::indexer, Domain::scales}, 8'355'840},
    {{Layout::indexer, Domain::codes}, 1'065'402'240}, {{Layout::indexer, Domain::non_finite}, 19'200},
    {{Layout::indexer, Domain::positions}, 97'536},    {{Layout::flashmla, Domain::pairs}, 1'065'402'240},
};

TEST_F(GpuProof, both_strict_kernels_are_proved_with_the_counts_of_the_domains) {
  const auto start = std::chrono::steady_clock::now();
  std::int64_t pairs = 0;
  for (const Subject& subject : subjects("strict")) {
    for (const Domain domain :
         {Domain::scales, Domain::codes, Domain::rope, Domain::non_finite, Domain::positions, Domain::pairs}) {
      if (ProofDomain(domain, subject.dialect, ElementType::bf16, Fp8::e4m3fn).empty()) {
        EXPECT_FALSE(strict_pairs.contains({subject.dialect.layout, domain})) << name_of(domain);
        continue;
      }
      const ProofResult result = prove(subject, {domain, ElementType::bf16, Fp8::e4m3fn, {}});
      EXPECT_TRUE(result.proved()) << subject.title() << " " << name_of(domain) << ": "
                                   << (result.failure ? result.failure->summary : result.refusal);
      EXPECT_EQ(result.pairs, strict_pairs.at({subject.dialect.layout, domain}))
          << subject.title() << " " << name_of(domain);
      pairs += result.pairs;
    }
  }
  EXPECT_EQ(pairs, 2'179'716'764);
  std::printf("%lld pairs in %.2f s\n", static_cast<long long>(pairs),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

TEST_F(GpuProof, every_dialect_and_fp8_type_is_proved) {
  std::int64_t pairs = 0;
  for (const Subject& subject : builtin_cuda_subjects()) {
    for (const Fp8 fp8 : subject.fp8_types) {
      for (const Domain domain : {Domain::scales, Domain::rope, Domain::non_finite, Domain::positions}) {
        const ProofTask task{domain, ElementType::bf16, fp8, {}};
        const ProofResult result = prove(subject, task);
        EXPECT_TRUE(result.wanted == 0 || result.proved()) << subject.title() << " " << name_of(domain) << ": "
                                                           << (result.failure ? result.failure->summary : result.refusal);
        pairs += result.pairs;
      }
    }
  }
  EXPECT_GT(pairs, 100'000'000);
}

TEST_F(GpuProof, fp16_and_fp32_input_are_proved) {
  for (const Subject& subject : subjects("strict")) {
    for (const ElementType input : {ElementType::fp16, ElementType::fp32}) {
      for (const Domain domain : {Domain::scales, Domain::codes}) {
        const ProofResult result = prove(subject, {domain, input, Fp8::e4m3fn, {}});
        EXPECT_TRUE(result.proved()) << subject.title() << " " << name_of(domain) << ": "
                                     << (result.failure ? result.failure->summary : result.refusal);
        EXPECT_GT(result.pairs, 1'000'000);
      }
    }
  }
}

TEST_F(GpuProof, each_index_type_is_proved) {
  for (const Subject& subject : subjects("strict")) {
    for (const IndexType index : subject.index_types) {
      ProofTask task{Domain::positions, ElementType::bf16, Fp8::e4m3fn, {}};
      task.index = index;
      const ProofResult result = prove(subject, task);
      EXPECT_TRUE(result.proved()) << subject.title() << " " << name_of(index);
      EXPECT_EQ(result.pairs, strict_pairs.at({subject.dialect.layout, Domain::positions}));
    }
  }
}

// A kernel that divides, held to a dialect that multiplies by the reciprocal: some codes are a neighbour's, and explained
// only where such an error is declared.
TEST_F(GpuProof, a_declared_error_is_counted_and_nothing_else_excused) {
  const std::vector<Subject> dividing = subjects("vllm-indexer");
  ASSERT_FALSE(dividing.empty());
  for (Subject subject : dividing) {
    ASSERT_EQ(subject.dialect.quantise, Quantise::divide);
    subject.dialect.quantise = Quantise::multiply_reciprocal;
    const ProofTask task{Domain::codes, ElementType::bf16, Fp8::e4m3fn, {}};
    EXPECT_TRUE(prove(subject, task).failure) << subject.title();
    subject.dialect.reciprocal_ulp = 2;
    const ProofResult result = prove(subject, task);
    EXPECT_TRUE(result.proved()) << subject.title() << ": " << (result.failure ? result.failure->summary : result.refusal);
    EXPECT_GT(result.explained, 0) << subject.title();
    EXPECT_NE(result.explained_example.find(": code 0x"), std::string::npos) << result.explained_example;
    std::printf("%s: %lld codes explained, as %s\n", subject.title().c_str(), static_cast<long long>(result.explained),
                result.explained_example.c_str());
    const OnePair pair{subject, 0x3E60, 0xBD77};
    EXPECT_TRUE(prove(subject_of(pair), {Domain::codes, ElementType::bf16, Fp8::e4m3fn, {}}).failure) << subject.title();
  }
}

TEST_F(GpuProof, one_wrong_pair_is_found_named_and_saved) {
  const Folder folder;
  for (const Subject& right : subjects("strict")) {
    const OnePair pair{right, 0x3E60, 0xBD77};
    const Subject wrong = subject_of(pair);
    const ProofResult result = prove(wrong, {Domain::codes, ElementType::bf16, Fp8::e4m3fn, {}}, folder.path);
    ASSERT_TRUE(result.failure) << right.title();
    EXPECT_NE(result.failure->summary.find("amax 0x3e60 (0.21875), x 0xbd77 (-0.060302734): code "), std::string::npos)
        << result.failure->summary;
    const FiledCase filed = read_cases(result.failure->file).cases.front();
    EXPECT_TRUE(run_here(arena, wrong)->run_whole(filed.run).breach);
    EXPECT_FALSE(run_here(arena, right)->run_whole(filed.run).breach);
  }
}

}  // namespace
}  // namespace kvproof

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const std::string absence = kvproof::cuda_absence(); !absence.empty()) {
    std::fprintf(stderr, "prove_gpu_test: no GPU: %s\n", absence.c_str());
    return 3;
  }
  return RUN_ALL_TESTS();
}
