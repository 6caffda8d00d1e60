#include "kvproof/fuzz/campaign.h"

#include <optional>

#include "kvproof/fuzz/mutate.h"
#include "kvproof/properties/case_generator.h"

namespace kvproof::fuzz {
namespace {

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

FuzzCall Campaign::next(Draw& draw) {
  const std::lock_guard lock(mutex_);
  if (!seeds_.empty()) {
    const FuzzCall call = std::move(seeds_.back());
    seeds_.pop_back();
    return call;
  }
  return options_.guided ? corpus_.next(draw) : drawn_call(draw);
}

void Campaign::count(const CaseOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  ++counts_.executions;
  counts_.codes += outcome.codes;
  counts_.bytes += outcome.bytes;
  counts_.failing += outcome.breach ? 1 : 0;
  if (outcome.refused) {
    ++counts_.refused;
    if (counts_.refusal.empty()) {
      counts_.refusal = outcome.refusal;
    }
  }
}

bool Campaign::is_new(const std::string& kind) {
  const std::lock_guard lock(mutex_);
  return met_.insert(kind).second;
}

void Campaign::report(const CampaignFinding& finding, const std::function<void(const CampaignFinding&)>& found) {
  {
    const std::lock_guard lock(mutex_);
    if (found_.size() >= options_.findings || !found_.insert(finding.kind).second) {
      return;
    }
  }
  const std::lock_guard lock(telling_);
  found(finding);
}

void Campaign::work(CaseRunner& runner, std::uint64_t worker, const std::function<void(const CampaignFinding&)>& found) {
  CaseMaker maker(subject_, {.far_pools = true, .extreme_indices = runner.isolated()});
  Draw draw(options_.seed ^ (worker * 0xD1B54A32D192ED03ULL));
  Case c;
  std::vector<std::uint16_t> features;
  while (!over()) {
    const FuzzCall call = next(draw);
    maker.make(call, c);
    const double began = seconds();
    CaseOutcome outcome = runner.run_whole(c);
    count(outcome);
    if (!outcome.breach) {
      features_of(call, c, subject_.dialect, features);
      const std::lock_guard lock(mutex_);
      corpus_.offer(call, features);
      continue;
    }
    CampaignFinding finding{c, std::move(*outcome.breach), {}, counts().executions, began, 0, false};
    if (is_new(kind_of(finding.breach))) {
      minimise(runner, finding);
      finding.kind = kind_of(finding.breach);
      report(finding, found);
    }
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
