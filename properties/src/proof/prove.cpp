#include "kvproof/properties/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "call.h"
#include "kvproof/device/error.h"
#include "kvproof/properties/finding_file.h"
#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

using Clock = std::chrono::steady_clock;

// A question is asked of so many rows that it takes about this long: the limit on one answer stays far away.
constexpr std::chrono::duration<double> enough{0.3};

class Proof {
 public:
  Proof(CaseRunner& runner, const Subject& subject, const ProofTask& task, const ProveOptions& options,
        const std::function<void(const ProofResult&)>& each_batch)
      : runner_(runner),
        subject_(subject),
        options_(options),
        each_batch_(each_batch),
        domain_(task.domain, subject.dialect, task.input, task.fp8) {
    result_.task = task;
    next_ = task.shard.begin(domain_.rows());
    last_ = task.shard.end(domain_.rows());
    result_.rows = last_ - next_;
    result_.wanted = domain_.empty() ? 0 : domain_.pairs(next_, last_);
  }

  ProofResult run() {
    const auto start = Clock::now();
    std::vector<std::jthread> threads;
    for (const MakeRunner& make : options_.more) {
      threads.emplace_back([this, &make] {
        guarded([&] { work(*make()); });  // its process belongs to this thread, and ends with it
      });
    }
    guarded([&] { work(runner_); });
    threads.clear();
    if (error_) {
      std::rethrow_exception(error_);
    }
    conclude();
    result_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(result_);
  }

 private:
  template <class Work>
  void guarded(Work work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = error_ ? error_ : std::current_exception();
    }
  }

  // Rows are handed out in order, so when one is wrong all before it have been handed out too.
  std::optional<ProofQuestion> question(std::int64_t rows) {
    const std::lock_guard lock(mutex_);
    if (next_ >= last_ || error_ || failed_at_ >= 0) {
      return std::nullopt;
    }
    const ProofTask& task = result_.task;
    const std::int64_t first = next_;
    next_ = std::min(last_, next_ + rows);
    return ProofQuestion{task.domain, task.input, task.fp8, first, next_};
  }

  void work(CaseRunner& runner) {
    const std::int64_t call = rows_a_call(subject_, result_.task.input);
    std::int64_t rows = call;
    while (const auto asked = question(rows)) {
      const auto start = Clock::now();
      const ProofAnswer answer = runner.prove(*asked);
      rows = Clock::now() - start < enough ? std::min<std::int64_t>(2 * rows, std::int64_t{1} << 24) : rows;
      count(*asked, answer);
    }
  }

  void count(const ProofQuestion& asked, const ProofAnswer& answer) {
    const std::lock_guard lock(mutex_);
    result_.pairs += answer.pairs;
    result_.codes += answer.codes;
    result_.bytes += answer.bytes;
    result_.refused += answer.refused;
    result_.refusal = result_.refusal.empty() ? answer.refusal : result_.refusal;
    const std::int64_t at = answer.failure ? asked.first : answer.first_wrong;
    if ((answer.failure || answer.wrong_rows != 0) && (failed_at_ < 0 || at < failed_at_)) {
      failed_at_ = at;
      asked_ = asked;
      answer_ = answer;
    }
    each_batch_(result_);
  }

  void conclude() {
    if (failed_at_ < 0) {
      if (result_.pairs != result_.wanted && result_.pairs != 0) {
        result_.failure = ProofFailure{
            fmt::format("{} pairs were compared, the domain has {}", result_.pairs, result_.wanted),
            result_.refused == 0 ? std::vector<std::string>{}
                                 : std::vector{fmt::format("{} rows were refused: {}", result_.refused, result_.refusal)},
            {}};
      }
      return;
    }
    ProofFailure& failure = result_.failure.emplace();
    if (answer_.failure) {
      failure.summary = *answer_.failure;
      failure.notes = answer_.last_lines;
      failure.notes.push_back(fmt::format("it ran rows {} to {} of {}", asked_.first, asked_.last - 1, domain_.rows()));
      return;
    }
    RowFinding finding = name_wrong_row(subject_, result_.task, failed_at_, answer_.found);
    failure.summary = std::move(finding.summary);
    failure.notes.push_back(fmt::format("row {} of {}; {} wrong bytes in {} rows of its batch", failed_at_, domain_.rows(),
                                        answer_.wrong_bytes, answer_.wrong_rows));
    if (!runner_.run_whole(finding.run).breach) {
      failure.notes.emplace_back("this row alone is stored right: it takes the others of its batch, or what came before");
    }
    if (!options_.save.empty()) {
      const ProofTask& task = result_.task;
      failure.file = options_.save / fmt::format("{}-prove-{}-{}-{}.json", file_stem(subject_), name_of(task.domain),
                                                 name_of(task.input), name_of(task.fp8));
      save_finding(failure.file, subject_, finding.run,
                   fmt::format("{} breaks the proof of {}: row {}", subject_.title(), name_of(task.domain), failed_at_),
                   failure.summary);
    }
  }

  CaseRunner& runner_;
  const Subject& subject_;
  const ProveOptions& options_;
  const std::function<void(const ProofResult&)>& each_batch_;
  ProofDomain domain_;
  ProofResult result_;
  std::mutex mutex_;
  std::int64_t next_ = 0;
  std::int64_t last_ = 0;
  std::int64_t failed_at_ = -1;
  ProofQuestion asked_;
  ProofAnswer answer_;
  std::exception_ptr error_;
};

}  // namespace

std::string_view name_of(Domain domain) {
  switch (domain) {
    case Domain::scales:
      return "scales";
    case Domain::codes:
      return "codes";
    case Domain::rope:
      return "rope";
    case Domain::non_finite:
      return "non-finite";
    case Domain::positions:
      break;
  }
  return "positions";
}

ProofResult prove_domain(CaseRunner& runner, const Subject& subject, const ProofTask& task, const ProveOptions& options,
                         const std::function<void(const ProofResult&)>& each_batch) {
  return Proof(runner, subject, task, options, each_batch).run();
}

}  // namespace kvproof
