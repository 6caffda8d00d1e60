#include "kvproof/properties/check.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include "kvproof/device/error.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/finding_file.h"
#include "kvproof/properties/fnv1a.h"

namespace kvproof {
namespace {

using Clock = std::chrono::steady_clock;
using rc::detail::CaseDescription;
using rc::detail::CaseResult;

constexpr int batch = 25;  // cases between two looks at the clock

class Quiet : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const CaseDescription&) override {}
  void onShrinkTried(const CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

using NextSmaller = std::function<std::optional<Case>(SmallerCases&)>;

// Smaller cases as RapidCheck takes them.
class Smaller {
 public:
  Smaller(SmallerCases cases, NextSmaller next) : cases_(std::move(cases)), next_(std::move(next)) {}

  rc::Maybe<Case> operator()() {
    std::optional<Case> smaller = next_(cases_);
    return smaller ? rc::Maybe<Case>(std::move(*smaller)) : rc::Nothing;
  }

 private:
  SmallerCases cases_;
  NextSmaller next_;
};

// Runs cases until one breaks the property, then remembers the smallest that does.
class Search {
 public:
  Search(CaseRunner& runner, const Subject& subject, const Property& property, const CheckOptions& options,
         const std::function<void(const PropertyResult&)>& each_case)
      : runner_(runner), subject_(subject), property_(property), options_(options), each_case_(each_case) {
    result_.property = &property;
  }

  PropertyResult run() {
    const Clock::time_point start = Clock::now();
    const auto stop = start + std::chrono::duration_cast<Clock::duration>(options_.budget);
    // Every property of every subject has cases of its own.
    std::uint64_t seed = fnv1a(fmt::format("{}/{}", subject_.title(), property_.name), options_.seed);
    std::int64_t left = options_.cases.value_or(0);
    do {
      const int count = options_.cases ? static_cast<int>(std::min<std::int64_t>(left, batch)) : batch;
      rc::detail::TestParams params;
      params.seed = seed++;
      params.maxSuccess = count;
      Quiet quiet;
      const auto outcome = rc::detail::checkProperty(property(), rc::detail::TestMetadata{}, params, quiet, {});
      if (error_) {
        std::rethrow_exception(error_);
      }
      left -= count;
      if (smallest_) {
        finish();
        break;
      }
      if (!outcome.is<rc::detail::SuccessResult>()) {
        throw CannotRun(fmt::format("{}: the property could not be run", property_.name));
      }
    } while (options_.cases ? left > 0 : Clock::now() < stop);
    result_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(result_);
  }

 private:
  rc::detail::Property property() {
    const rc::Gen<Case> cases = [this](const rc::Random& random, int size) {
      rc::Random source(random);
      Draw draw(source.next());
      CaseFocus focus = property_.focus;
      focus.extreme_indices = runner_.isolated();
      return rc::shrinkable::shrinkRecur(draw_case(draw, subject_, focus, size), [this](const Case& c) {
        return rc::makeSeq<Smaller>(SmallerCases(c, subject_),
                                    [this](SmallerCases& smaller) { return next_smaller(smaller); });
      });
    };
    return rc::gen::map(cases, [this](Case&& c) { return judge_case(std::move(c)); });
  }

  std::optional<Case> next_smaller(SmallerCases& cases) {
    shrink_cut_ = Clock::now() >= shrink_stop_;
    return shrink_cut_ || error_ ? std::nullopt : cases.next();
  }

  CaseDescription judge_case(Case&& c) {
    const auto said = [](CaseResult::Type type) {
      CaseDescription description;
      description.result = CaseResult(type);
      description.example = [] { return rc::detail::Example{}; };
      return description;
    };
    if (error_) {
      return said(CaseResult::Type::Success);  // nothing more is run
    }
    if (smallest_ && c == *smallest_) {
      return said(CaseResult::Type::Failure);  // RapidCheck asks once more before it shrinks: known, and no step
    }
    try {
      CaseOutcome outcome = runner_.run(property_, c);
      count(outcome);
      std::optional<Breach>& breach = outcome.breach;
      if (!breach) {
        return said(CaseResult::Type::Success);
      }
      shrink_steps_ += smallest_ ? 1 : 0;
      if (!smallest_) {
        if (!options_.save.empty()) {
          file_ = options_.save / fmt::format("{}-{}-{:x}.json", file_stem(subject_), property_.name, options_.seed);
          save(c, *breach);  // before shrinking: it may never end
        }
        shrink_stop_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.shrink_budget);
      }
      smallest_ = std::move(c);
      breach_ = std::move(*breach);
      return said(CaseResult::Type::Failure);
    } catch (...) {
      error_ = std::current_exception();  // RapidCheck would take it for a failing case
      return said(CaseResult::Type::Success);
    }
  }

  void count(const CaseOutcome& outcome) {
    result_.bytes += outcome.bytes;
    result_.codes += outcome.codes;
    result_.explained += outcome.explained;
    if (result_.explained_example.empty()) {
      result_.explained_example = outcome.explained_example;
    }
    if (smallest_) {
      return;  // shrinking adds no cases
    }
    ++result_.cases;
    result_.exercised += outcome.exercised ? 1 : 0;
    if (outcome.refused) {
      ++result_.refused;
      if (result_.refusal.empty()) {
        result_.refusal = outcome.refusal;
      }
    }
    each_case_(result_);
  }

  // A finding that cannot be saved is one all the same.
  void save(const Case& c, const Breach& breach) {
    try {
      save_finding(file_, subject_, c, fmt::format("{} breaks {}: {}", subject_.title(), property_.name, property_.promise),
                   breach.summary);
      unsaved_.clear();
    } catch (const CannotRun& error) {
      unsaved_ = error.what();
    }
  }

  bool needs_earlier() {
    if (!options_.run_afresh || breach_.hung) {
      return false;  // to wait for one that does not return costs its whole time again
    }
    const std::optional<CaseOutcome> outcome = runner_.run_afresh(&property_, *smallest_);
    return outcome && !outcome->breach;
  }

  void finish() {
    if (options_.name_fault) {
      runner_.name_fault(&property_, *smallest_, breach_);
    }
    Failure failure{breach_, describe_call(*smallest_), {}, shrink_steps_, shrink_cut_, needs_earlier(), {}};
    if (failure.needs_earlier) {
      failure.notes.emplace_back("alone, in a process of its own, this case does not fail: it takes the cases before it");
    }
    if (!file_.empty()) {
      save(*smallest_, breach_);
    }
    if (unsaved_.empty()) {
      failure.file = file_;
    } else {
      failure.notes.push_back("not saved: " + unsaved_);
    }
    result_.failure = std::move(failure);
  }

  CaseRunner& runner_;
  const Subject& subject_;
  const Property& property_;
  const CheckOptions& options_;
  const std::function<void(const PropertyResult&)>& each_case_;
  PropertyResult result_;
  std::optional<Case> smallest_;
  Breach breach_;
  std::filesystem::path file_;
  std::string unsaved_;  // why the file is not there
  Clock::time_point shrink_stop_ = Clock::time_point::max();
  std::int64_t shrink_steps_ = 0;
  bool shrink_cut_ = false;
  std::exception_ptr error_;
};

}  // namespace

PropertyResult check_property(CaseRunner& runner, const Subject& subject, const Property& property,
                              const CheckOptions& options, const std::function<void(const PropertyResult&)>& each_case) {
  return Search(runner, subject, property, options, each_case).run();
}

}  // namespace kvproof
