// A campaign finds what is planted, makes it small, tells each finding once, and accuses no correct kernel.
#include "kvproof/fuzz/campaign.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kvproof/fuzz/page_map.h"

namespace kvproof::fuzz {
namespace {

// A correct kernel, then one byte more: the tail of the page of the first stored token, where there is one.
std::int32_t writes_a_tail(void* state, const kvproof_store_call* call, const char** message) {
  const Subject& right = *static_cast<const Subject*>(state);
  const std::int32_t answer = right.store(right.state, call, message);
  const std::int64_t used = smallest_page_stride(right.dialect.layout, call->page_size);
  if (answer == KVPROOF_STORED && call->tokens > 0 && call->page_stride > used) {
    static_cast<std::uint8_t*>(call->cache)[used] ^= 0xFF;
  }
  return answer;
}

// A correct kernel up to 100 tokens; the rows of the others are not stored.
std::int32_t stores_100(void* state, const kvproof_store_call* call, const char** message) {
  const Subject& right = *static_cast<const Subject*>(state);
  kvproof_store_call few = *call;
  few.tokens = std::min<std::int64_t>(call->tokens, 100);
  return right.store(right.state, &few, message);
}

std::int32_t refuses(void*, const kvproof_store_call*, const char** message) {
  *message = "not today";
  return KVPROOF_REFUSED;
}

struct Campaigned {
  CampaignCounts counts;
  std::vector<CampaignFinding> findings;
  std::vector<FuzzCall> corpus;
};

Campaigned run(const Subject& subject, const CampaignOptions& options) {
  Arena arena(host_memory());
  const std::unique_ptr<CaseRunner> runner = run_here(arena, subject);
  Campaign campaign(subject, options);
  Campaigned result;
  campaign.work(*runner, 0, [&](const CampaignFinding& finding) { result.findings.push_back(finding); });
  result.counts = campaign.counts();
  result.corpus = campaign.corpus();
  return result;
}

TEST(Campaign, a_correct_kernel_is_not_accused_and_its_corpus_grows) {
  for (const Subject& subject : builtin_host_subjects()) {
    const Campaigned result = run(subject, {.seed = 1, .executions = 60});
    EXPECT_TRUE(result.findings.empty()) << subject.title() << ": " << result.findings.front().breach.summary;
    EXPECT_EQ(result.counts.executions, 60);
    EXPECT_GT(result.counts.codes, 0);
    EXPECT_GT(result.corpus.size(), 20U);
  }
}

TEST(Campaign, joined_calls_count_each_and_accuse_no_correct_kernel) {
  for (const Subject& subject : builtin_host_subjects()) {
    const Campaigned result = run(subject, {.seed = 1, .executions = 2'000, .batch = 50});
    EXPECT_TRUE(result.findings.empty()) << subject.title() << ": " << result.findings.front().breach.summary;
    EXPECT_EQ(result.counts.executions, 2'000);
    EXPECT_GT(result.counts.codes, 2'000 * 128);
    EXPECT_GT(result.corpus.size(), 100U);
  }
}

TEST(Campaign, what_is_wrong_in_a_joined_call_is_told_of_the_one_that_is) {
  Subject right = builtin_host_subjects().front();
  Subject wrong = right;
  wrong.store = &writes_a_tail;
  wrong.state = &right;
  const Campaigned result = run(wrong, {.seed = 2, .executions = 300, .batch = 20});
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_LE(result.findings.front().smallest.shape.tokens, 2);
  EXPECT_EQ(result.findings.front().breach.wrong.size(), 1U);
}

TEST(Campaign, what_only_many_tokens_show_is_told_of_the_joined_call) {
  Subject right = builtin_host_subjects().front();
  Subject wrong = right;
  wrong.store = &stores_100;
  wrong.state = &right;
  EXPECT_TRUE(run(wrong, {.seed = 3, .executions = 300}).findings.empty());
  const Campaigned result = run(wrong, {.seed = 3, .executions = 2'000, .findings = 1, .batch = 50});
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().smallest.shape.tokens, 101);
}

TEST(Campaign, a_planted_stray_is_found_once_and_made_small) {
  Subject right = builtin_host_subjects().front();
  Subject wrong = right;
  wrong.store = &writes_a_tail;
  wrong.state = &right;
  const Campaigned result = run(wrong, {.seed = 2, .executions = 300});
  ASSERT_EQ(result.findings.size(), 1U);
  const CampaignFinding& finding = result.findings.front();
  EXPECT_LE(finding.smallest.shape.tokens, 2);
  EXPECT_EQ(finding.breach.wrong.size(), 1U);
  EXPECT_GT(result.counts.failing, 1);
  const std::vector<std::string> map = page_map(finding.smallest, finding.breach, right.dialect);
  ASSERT_FALSE(map.empty());
  EXPECT_NE(map.front().find("tail 1 byte changed"), std::string::npos) << map.front();
}

TEST(Campaign, a_kernel_that_refuses_everything_has_compared_no_code) {
  Subject subject = builtin_host_subjects().front();
  subject.store = &refuses;
  const Campaigned result = run(subject, {.seed = 3, .executions = 50});
  EXPECT_EQ(result.counts.refused, 50);
  EXPECT_EQ(result.counts.codes, 0);
  EXPECT_EQ(result.counts.refusal, "not today");
  EXPECT_TRUE(result.findings.empty());
}

TEST(Campaign, the_kept_calls_have_every_feature_that_was_reached) {
  const Subject subject = builtin_host_subjects().front();
  Corpus corpus;
  CaseMaker maker(subject, {});
  std::vector<std::uint16_t> features;
  Draw draw(4);
  for (int round = 0; round < 20'000; ++round) {
    const FuzzCall call = corpus.next(draw);
    features_of(call, maker.made(call), subject.dialect, features);
    corpus.offer(call, features);
  }
  EXPECT_GT(corpus.features(), 900U);
  EXPECT_LT(corpus.calls().size(), 2'000U) << "only what is worth keeping is kept";
  Corpus again;
  for (const FuzzCall& call : corpus.calls()) {
    features_of(call, maker.made(call), subject.dialect, features);
    again.offer(call, features);
  }
  EXPECT_EQ(again.features(), corpus.features());
}

}  // namespace
}  // namespace kvproof::fuzz
