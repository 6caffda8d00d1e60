// A campaign against one kernel: calls guided by their features, each run as a case whose every byte is judged. What is
// wrong is made small and reported, and the campaign goes on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kvproof/fuzz/case_maker.h"
#include "kvproof/fuzz/corpus.h"
#include "kvproof/fuzz/far_turns.h"
#include "kvproof/properties/case_runner.h"

namespace kvproof::fuzz {

struct CampaignOptions {
  std::uint64_t seed = 0;
  std::chrono::duration<double> time{60};
  std::int64_t executions = 0;                // stop after so many; 0: when the time is over
  std::size_t findings = 16;                  // stop after so many different ones
  std::chrono::duration<double> minimise{5};  // time for one finding
  std::size_t batch = 1;                      // calls that are run as one, where their pools are small enough to be joined
  bool guided = true;                         // false: every call is drawn afresh, for measuring what guidance is worth
};

struct CampaignFinding {
  Case smallest;
  Breach breach;
  std::string kind;            // what tells it from others: regions and how they are wrong
  std::int64_t execution = 0;  // that met it first
  double seconds = 0;          // from the start of the campaign to the first failing case
  std::int64_t steps = 0;      // of minimising
  bool cut = false;            // its time ran out
};

struct CampaignCounts {
  std::int64_t executions = 0;
  std::int64_t refused = 0;
  std::int64_t codes = 0;
  std::int64_t bytes = 0;
  std::int64_t failing = 0;  // executions
  std::size_t features = 0;
  std::size_t corpus = 0;
  std::string refusal;  // the first
};

// What the workers of a campaign share.
class Campaign {
 public:
  using Found = std::function<void(const CampaignFinding&)>;

  Campaign(const Subject& subject, const CampaignOptions& options);

  // A call to begin with: what it exercises is no news later. To be called before `work`.
  void seed(const FuzzCall& call) { seeds_.push_back(call); }

  // Runs calls on `runner` until the campaign is over; several threads may, each with a runner and a number of its own.
  // `found` is called with each new kind of finding, one at a time. Throws
  // CannotRun when the device breaks.
  void work(CaseRunner& runner, std::uint64_t worker, const Found& found);

  // Ends it early.
  void stop() { stopped_ = true; }
  bool over() const;

  CampaignCounts counts() const;
  double seconds() const;
  std::vector<FuzzCall> corpus() const;

 private:
  using Clock = std::chrono::steady_clock;

  // Seeds are run as they are, before all else and each on its own.
  std::optional<FuzzCall> next_seed();
  FuzzCall next(Draw& draw) const;
  FuzzCall next_of(FarTurns& turns, Draw& draw) const;
  // `calls`: how many the outcome is of.
  void count(const CaseOutcome& outcome, std::size_t calls);
  // How many calls may be joined next: no more than executions are left.
  std::size_t batch() const;
  void offer(const FuzzCall& call, const Case& c);
  // Runs a call on its own and reports what is wrong with it. Whether it was right.
  bool run_alone(CaseRunner& runner, const FuzzCall& call, const Case& c, const Found& found);
  // Runs calls as one; where that is wrong, each on its own.
  void run_joined(CaseRunner& runner, std::span<const FuzzCall> calls, std::span<const Case> cases, const Found& found);
  void tell(CaseRunner& runner, const Case& c, Breach breach, double began, const Found& found);
  // Whether no failing case has been of this kind.
  bool is_new(const std::string& kind);
  // Long batches that look different may come down to one thing, which is told once.
  void report(const CampaignFinding& finding, const Found& found);
  void minimise(CaseRunner& runner, CampaignFinding& finding) const;

  const Subject& subject_;
  const CampaignOptions options_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<bool> stopped_ = false;
  std::mutex telling_;        // while a finding is told
  mutable std::mutex mutex_;  // of all below
  std::vector<FuzzCall> seeds_;
  Corpus corpus_;
  CampaignCounts counts_;
  std::set<std::string> met_;    // kinds of failing cases as they were met
  std::set<std::string> found_;  // and as they were reported
};

}  // namespace kvproof::fuzz
