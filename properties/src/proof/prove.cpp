#include "kvproof/properties/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "call.h"
#include "finding.h"
#include "kvproof/device/error.h"
#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/finding_file.h"
#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

using Clock = std::chrono::steady_clock;

// A question is asked of so many rows that it takes about this long: the limit on one answer stays far away.
constexpr std::chrono::duration<double> enough{0.3};

constexpr std::int64_t most_filed_rows = 4096;  // a file of more is too large to read

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
    guarded([&] { settle_calls(); });
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
  std::optional<ProofQuestion> next_question(std::int64_t rows) {
    const std::lock_guard lock(mutex_);
    if (next_ >= last_ || error_ || failed_at_ >= 0) {
      return std::nullopt;
    }
    const std::int64_t first = next_;
    next_ = std::min(last_, next_ + rows);
    return question({first, next_});
  }

  ProofQuestion question(const Span& rows) const {
    const ProofTask& task = result_.task;
    return {task.domain, task.input, task.fp8, rows.first, rows.last, result_.pages, result_.rows_a_call, task.index};
  }

  // Asks for some rows in each kind of pages until the kernel takes them, all in one call first. If it takes none, no more
  // is asked.
  void settle_calls() {
    if (next_ >= last_) {
      return;
    }
    for (const std::int64_t rows : rows_a_call_to_try(subject_, result_.task.input)) {
      for (const ProofPages& pages : pages_to_try(subject_)) {
        result_.pages = pages;
        result_.rows_a_call = rows;
        const ProofQuestion asked = question({next_, std::min(last_, next_ + rows)});
        const ProofAnswer answer = runner_.prove(asked);
        if (answer.failure || answer.refused == 0) {
          next_ = asked.last;
          count(asked, answer);
          return;
        }
        result_.refused_pages.push_back({pages, answer.refusal});
      }
      if (rows != 1) {
        result_.refused_calls.push_back({rows, result_.refused_pages.size(), result_.refused_pages.front().refusal});
        result_.refused_pages.clear();
      }
    }
    result_.pages = {};
    result_.rows_a_call = 0;
    result_.refused = last_ - next_;
    result_.refusal = result_.refused_pages.front().refusal;
    next_ = last_;
  }

  void work(CaseRunner& runner) {
    std::int64_t rows = result_.rows_a_call;
    while (const auto asked = next_question(rows)) {
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
    result_.explained += answer.explained;
    if (answer.explained != 0 && result_.explained_example.empty()) {
      result_.explained_example = name_explained_code(subject_, result_.task, answer.explained_row, answer.explained_found);
    }
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
    narrow_stop_ = Clock::now() + options_.narrow;
    if (answer_.failure) {
      conclude_ended();
    } else {
      conclude_wrong();
    }
  }

  // The rows of one call that end the process, and of one row the values.
  void conclude_ended() {
    ProofFailure& failure = result_.failure.emplace();
    failure.summary = *answer_.failure;
    failure.notes = answer_.last_lines;
    const std::int64_t call = asked_.rows_a_call;
    const std::int64_t calls = (asked_.last - asked_.first + call - 1) / call;
    const auto rows_of = [&](const Span& some) {
      return Span{asked_.first + some.first * call, std::min(asked_.last, asked_.first + some.last * call)};
    };
    const Span some =
        narrowed({0, calls}, narrow_stop_, [&](const Span& part) { return breaks(rows_of(part), asked_.index); });
    Span rows = rows_of(some);
    if (some.size() == 1) {
      const IndexType index = index_type_at(subject_, asked_, rows.first);
      rows = narrowed(rows, narrow_stop_, [&](const Span& part) { return breaks(part, index); });
      file_what_ends(rows, index);
    }
    failure.notes.push_back(rows.size() == 1
                                ? fmt::format("it ran row {} of {}", rows.first, domain_.rows())
                                : fmt::format("it ran rows {} to {} of {}", rows.first, rows.last - 1, domain_.rows()));
  }

  void file_what_ends(const Span& rows, IndexType index) {
    if (rows.size() > most_filed_rows || Clock::now() >= narrow_stop_) {
      return;
    }
    Case c = case_of_rows(subject_, asked_, rows, index);
    if (!ends(c)) {
      result_.failure->notes.emplace_back("in a call of their own these rows do not: it takes what came before");
      return;
    }
    c = smallest_that_ends(std::move(c));
    result_.failure->notes.push_back(describe_call(c));
    if (const std::string values = c.shape.tokens == 1 ? name_values(c) : ""; !values.empty()) {
      result_.failure->notes.push_back(values);
    }
    save(c, fmt::format("rows {} to {}", rows.first, rows.last - 1));
  }

  bool breaks(const Span& rows, std::optional<IndexType> index) {
    ProofQuestion part = question(rows);
    part.index = index;
    const ProofAnswer answer = runner_.prove(part);
    return answer.failure || answer.wrong_rows != 0;
  }

  bool ends(const Case& c) {
    const CaseOutcome outcome = runner_.run_whole(c);
    return outcome.breach && outcome.breach->ended;
  }

  Case smallest_that_ends(Case c) {
    for (bool smaller = true; smaller;) {
      smaller = false;
      SmallerCases steps(c, subject_);
      while (!smaller && Clock::now() < narrow_stop_) {
        std::optional<Case> next = steps.next();
        if (!next) {
          break;
        }
        if (ends(*next)) {
          c = std::move(*next);
          smaller = true;
        }
      }
    }
    return c;
  }

  // A row alone; where that is stored right, the rows of its call that it takes to be wrong.
  void conclude_wrong() {
    ProofFailure& failure = result_.failure.emplace();
    failure.summary = name_wrong_row(subject_, result_.task, failed_at_, answer_.found);
    failure.notes.push_back(fmt::format("row {} of {}; {} wrong bytes in {} rows of its batch", failed_at_, domain_.rows(),
                                        answer_.wrong_bytes, answer_.wrong_rows));
    Case c = case_of_rows(subject_, asked_, {failed_at_, failed_at_ + 1}, answer_.index_type);
    if (runner_.run_whole(c).breach) {
      save(c, fmt::format("row {}", failed_at_));
      return;
    }
    const std::int64_t call = asked_.rows_a_call;
    const std::int64_t first = asked_.first + (failed_at_ - asked_.first) / call * call;
    Span rows{first, std::min(asked_.last, first + call)};
    const auto broken = [&](const Span& part) { return breaks(part, answer_.index_type); };
    if (options_.narrow.count() != 0 && broken(rows)) {
      rows = narrowed(rows, narrow_stop_, broken);
      failure.notes.push_back(
          fmt::format("this row alone is stored right: a call of rows {} to {} is not", rows.first, rows.last - 1));
      if (rows.size() <= most_filed_rows) {
        c = case_of_rows(subject_, asked_, rows, answer_.index_type);
      }
    } else {
      failure.notes.emplace_back("this row alone is stored right: it takes what came before");
    }
    save(c, fmt::format("row {}", failed_at_));
  }

  // What was found is told though it cannot be saved.
  void save(const Case& c, const std::string& rows) {
    if (options_.save.empty()) {
      return;
    }
    const ProofTask& task = result_.task;
    ProofFailure& failure = *result_.failure;
    const std::filesystem::path file =
        options_.save / fmt::format("{}-prove-{}-{}-{}.json", file_stem(subject_), name_of(task.domain), name_of(task.input),
                                    name_of(task.fp8));
    try {
      save_finding(file, subject_, c,
                   fmt::format("{} breaks the proof of {}: {}", subject_.title(), name_of(task.domain), rows),
                   failure.summary);
      failure.file = file;
    } catch (const CannotRun& error) {
      failure.notes.push_back(fmt::format("not saved: {}", error.what()));
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
  Clock::time_point narrow_stop_;
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
      return "positions";
    case Domain::pairs:
      break;
  }
  return "pairs";
}

ProofResult prove_domain(CaseRunner& runner, const Subject& subject, const ProofTask& task, const ProveOptions& options,
                         const std::function<void(const ProofResult&)>& each_batch) {
  return Proof(runner, subject, task, options, each_batch).run();
}

}  // namespace kvproof
