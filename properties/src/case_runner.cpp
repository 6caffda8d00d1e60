#include "kvproof/properties/case_runner.h"

#include "kvproof/device/child_fault.h"
#include "kvproof/properties/describe.h"

namespace kvproof {
namespace {

std::string explained_example(const Trial& trial) {
  for (const Judgement& judged : trial.judged) {
    if (judged.explained_example) {
      const std::string text = describe(*judged.explained_example, *trial.run, trial.subject->dialect);
      return text.substr(name_of(Wrong::value).size() + 1);  // it is not wrong
    }
  }
  return {};
}

class Here final : public CaseRunner {
 public:
  Here(Arena& arena, const Subject& subject) : arena_(arena), subject_(watched(subject)) {}

  CaseOutcome run(const Property& property, const Case& c) override {
    if (property.over_runs != nullptr) {
      return over_runs(property, c);
    }
    return compare(c, [&](const Trial& trial, CaseOutcome& outcome) {
      if (property.looks_at_pool && !trial.has_pools()) {
        outcome.codes = 0;
        outcome.bytes = 0;
      }
      outcome.exercised = outcome.codes > 0 && (property.exercises == nullptr || property.exercises(trial));
      // A refusal has no values; it must have left every byte.
      return trial.refused() && property.name != untouched_bytes_stay().name ? std::nullopt : property.broken(trial);
    });
  }

  CaseOutcome run_whole(const Case& c) override {
    return compare(c, [](const Trial& trial, CaseOutcome&) { return any_wrong_byte(trial); });
  }

  ProofAnswer prove(const ProofQuestion& question) override {
    if (!prover_) {
      prover_ = proof_runner(subject_);
    }
    try {
      return prover_->run(question);
    } catch (const KernelThrew& thrown) {
      ProofAnswer answer;
      answer.failure = in_words(thrown);
      return answer;
    }
  }

  std::string device() override { return arena_.device(); }

 private:
  static std::string in_words(const KernelThrew& thrown) {
    return std::string(thrown.out_of_memory ? "the kernel ran out of memory: " : "the kernel threw: ") + thrown.what();
  }

  static Breach ended(std::string summary) {
    Breach breach;
    breach.summary = std::move(summary);
    breach.ended = true;
    return breach;
  }

  template <class Broken>
  CaseOutcome compare(const Case& c, Broken broken) {
    return guarded([&](CaseOutcome& outcome) {
      const Trial trial = try_case(arena_, subject_, c);
      outcome.refused = trial.refused();
      outcome.refusal = outcome.refused ? trial.seen[0].message : std::string{};
      outcome.codes = trial.codes();
      outcome.bytes = trial.bytes();
      outcome.explained = trial.explained();
      outcome.explained_example = explained_example(trial);
      if (const auto wrong = misbehaviour(trial)) {
        outcome.breach = ended(*wrong);
      } else {
        outcome.breach = broken(trial, outcome);
      }
    });
  }

  CaseOutcome over_runs(const Property& property, const Case& c) {
    Rig rig(arena_, subject_, c);
    CaseOutcome outcome = guarded([&](CaseOutcome& so_far) {
      try {
        so_far.breach = property.over_runs(rig);
      } catch (const Misbehaved& wrong) {
        so_far.breach = ended(wrong.what());
      }
    });
    outcome.refused = rig.counts().refused;
    outcome.exercised = rig.counts().exercised;
    outcome.refusal = rig.counts().refusal;
    outcome.codes = rig.counts().codes;
    outcome.bytes = rig.counts().bytes;
    return outcome;
  }

  // What a kernel throws is a breach.
  template <class Work>
  static CaseOutcome guarded(Work work) {
    CaseOutcome outcome;
    try {
      work(outcome);
    } catch (const KernelThrew& thrown) {
      outcome.breach = ended(in_words(thrown));
    }
    return outcome;
  }

  Arena& arena_;
  Subject subject_;
  std::unique_ptr<ProofRunner> prover_;
};

}  // namespace

std::unique_ptr<CaseRunner> run_here(Arena& arena, const Subject& subject) { return std::make_unique<Here>(arena, subject); }

}  // namespace kvproof
