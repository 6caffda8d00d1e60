#include "kvproof/fuzz/campaign.h"

#include <algorithm>
#include <optional>

#include "kvproof/fuzz/features.h"
#include "kvproof/fuzz/join.h"
#include "kvproof/fuzz/mutate.h"
#include "kvproof/properties/case_generator.h"

namespace kvproof::fuzz {
namespace {

// A joined pool is filled and compared whole, so it stays small beside what one launch costs.
constexpr std::int64_t most_joined_bytes(MemoryKind memory) { return memory == MemoryKind::host ? 4 << 20 : 32 << 20; }
constexpr std::int64_t most_of_one_joined = 32 << 10;

constexpr int most_drawn = 64;  // for one turn

// Findings differ by what is wrong, not by how much of it: regions and kinds of the summary without its numbers.
std::string kind_of(const Breach& breach) {
  if (breach.wrong.empty()) {
    std::string kind;
    for (const char letter : breach.summary) {
      if (letter < '0' || letter > '9') {
        kind += letter;
      }
    }
    return kind;
  }
  std::set<std::string> parts;
  for (const WrongByte& wrong : breach.wrong) {
    parts.insert(std::string(wrong.area == Area::pool ? "pool" : name_of(wrong.area)) + " " +
                 (wrong.wrong == Wrong::stray ? "stray" : "wrong"));
  }
  std::string kind;
  for (const std::string& part : parts) {
    kind += (kind.empty() ? "" : ", ") + part;
  }
  return kind;
}

}  // namespace

Campaign::Campaign(const Subject& subject, const CampaignOptions& options) : subject_(subject), options_(options) {}

double Campaign::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

bool Campaign::over() const {
  if (stopped_ || Clock::now() - start_ >= options_.time) {
    return true;
  }
  const std::lock_guard lock(mutex_);
  return (options_.executions != 0 && counts_.executions >= options_.executions) || found_.size() >= options_.findings;
}

std::size_t Campaign::batch() const {
  const std::lock_guard lock(mutex_);
  const std::int64_t left = options_.executions - counts_.executions;
  return options_.executions == 0 ? options_.batch
                                  : std::clamp<std::size_t>(static_cast<std::size_t>(left), 1, options_.batch);
}

CampaignCounts Campaign::counts() const {
  const std::lock_guard lock(mutex_);
  CampaignCounts counts = counts_;
  counts.features = corpus_.features();
  counts.corpus = corpus_.calls().size();
  return counts;
}

std::vector<FuzzCall> Campaign::corpus() const {
  const std::lock_guard lock(mutex_);
  return corpus_.calls();
}

std::optional<FuzzCall> Campaign::next_seed() {
  const std::lock_guard lock(mutex_);
  if (seeds_.empty()) {
    return std::nullopt;
  }
  FuzzCall call = std::move(seeds_.back());
  seeds_.pop_back();
  return call;
}

FuzzCall Campaign::next(Draw& draw) const {
  const std::lock_guard lock(mutex_);
  return options_.guided ? corpus_.next(draw) : drawn_call(draw);
}

FuzzCall Campaign::next_of(FarTurns& turns, Draw& draw) const {
  FuzzCall call = next(draw);
  for (int drawn = 1; is_far(call.page_stride) != turns.far(); ++drawn) {
    if (drawn == most_drawn) {
      turns.pass();
      break;
    }
    call = next(draw);
  }
  return call;
}

void Campaign::count(const CaseOutcome& outcome, std::size_t calls) {
  const std::lock_guard lock(mutex_);
  counts_.executions += static_cast<std::int64_t>(calls);
  counts_.codes += outcome.codes;
  counts_.bytes += outcome.bytes;
  counts_.failing += outcome.breach ? 1 : 0;
  if (outcome.refused) {
    counts_.refused += static_cast<std::int64_t>(calls);
    if (counts_.refusal.empty()) {
      counts_.refusal = outcome.refusal;
    }
  }
}

bool Campaign::is_new(const std::string& kind) {
  const std::lock_guard lock(mutex_);
  return met_.insert(kind).second;
}

void Campaign::report(const CampaignFinding& finding, const Found& found) {
  {
    const std::lock_guard lock(mutex_);
    if (found_.size() >= options_.findings || !found_.insert(finding.kind).second) {
      return;
    }
  }
  const std::lock_guard lock(telling_);
  found(finding);
}

void Campaign::offer(const FuzzCall& call, const Case& c) {
  std::vector<std::uint16_t> features;
  features_of(call, c, subject_.dialect, features);
  const std::lock_guard lock(mutex_);
  corpus_.offer(call, features);
}

void Campaign::work(CaseRunner& runner, std::uint64_t worker, const Found& found) {
  CaseLimits limits{.far_pools = true, .extreme_indices = runner.isolated()};
  if (options_.batch > 1) {
    limits.largest_pool = most_of_one_joined;
  }
  CaseMaker maker(subject_, limits);
  Draw draw(options_.seed ^ (worker * 0xD1B54A32D192ED03ULL));
  std::optional<FarTurns> turns;  // on the host far pools are address space
  if (subject_.memory != MemoryKind::host) {
    turns.emplace();
  }
  std::vector<FuzzCall> calls(options_.batch);
  std::vector<Case> cases(options_.batch);
  while (!over()) {
    if (const std::optional<FuzzCall> seed = next_seed()) {
      maker.make(*seed, cases[0]);
      run_alone(runner, *seed, cases[0], found);
      continue;
    }
    calls[0] = turns ? next_of(*turns, draw) : next(draw);
    maker.make(calls[0], cases[0]);
    const Clock::time_point began = Clock::now();
    const std::size_t most = batch();
    std::size_t count = 1;
    for (std::int64_t bytes = cases[0].shape.pool_bytes(); count < most && bytes < most_joined_bytes(subject_.memory);
         ++count) {
      calls[count] = in_shape_of(calls[0], next(draw));
      maker.make(calls[count], cases[count]);
      bytes += cases[count].shape.pool_bytes();
    }
    if (count == 1) {
      run_alone(runner, calls[0], cases[0], found);
    } else {
      run_joined(runner, std::span(calls).first(count), std::span(cases).first(count), found);
    }
    if (turns) {
      turns->took(Clock::now() - began);
    }
  }
}

bool Campaign::run_alone(CaseRunner& runner, const FuzzCall& call, const Case& c, const Found& found) {
  const double began = seconds();
  CaseOutcome outcome = runner.run_whole(c);
  count(outcome, 1);
  if (outcome.breach) {
    tell(runner, c, std::move(*outcome.breach), began, found);
    return false;
  }
  offer(call, c);
  return true;
}

void Campaign::run_joined(CaseRunner& runner, std::span<const FuzzCall> calls, std::span<const Case> cases,
                          const Found& found) {
  const double began = seconds();
  const Case all = joined(cases, subject_.dialect);
  CaseOutcome outcome = runner.run_whole(all);
  if (!outcome.breach) {
    count(outcome, calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      offer(calls[i], cases[i]);
    }
    return;
  }
  bool each_right = true;
  for (std::size_t i = 0; i < calls.size() && !over(); ++i) {
    each_right = run_alone(runner, calls[i], cases[i], found) && each_right;
  }
  if (each_right) {
    count(outcome, 1);
    tell(runner, all, std::move(*outcome.breach), began, found);
  }
}

void Campaign::tell(CaseRunner& runner, const Case& c, Breach breach, double began, const Found& found) {
  CampaignFinding finding{c, std::move(breach), {}, counts().executions, began, 0, false};
  if (is_new(kind_of(finding.breach))) {
    minimise(runner, finding);
    runner.name_fault(nullptr, finding.smallest, finding.breach);
    finding.kind = kind_of(finding.breach);
    report(finding, found);
  }
}

// A smaller case is one that fails in any way: what a stray of a long batch is, a short one may show as a wrong value.
void Campaign::minimise(CaseRunner& runner, CampaignFinding& finding) const {
  const auto stop = Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.minimise);
  for (bool smaller = true; smaller;) {
    smaller = false;
    SmallerCases cases(finding.smallest, subject_);
    while (std::optional<Case> tried = cases.next()) {
      if (Clock::now() >= stop) {
        finding.cut = true;
        return;
      }
      if (CaseOutcome outcome = runner.run_whole(*tried); outcome.breach) {
        finding.smallest = std::move(*tried);
        finding.breach = std::move(*outcome.breach);
        ++finding.steps;
        smaller = true;
        break;
      }
    }
  }
}

}  // namespace kvproof::fuzz
