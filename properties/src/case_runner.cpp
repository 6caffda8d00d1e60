#include "kvproof/properties/case_runner.h"

#include "kvproof/device/child_fault.h"

namespace kvproof {
namespace {

class Here final : public CaseRunner {
 public:
  Here(Arena& arena, const Subject& subject) : arena_(arena), subject_(watched(subject)) {}

  CaseOutcome run(const Property& property, const Case& c) override {
    return compare(c, [&](const Trial& trial) {
      // A refusal has no values; it must have left every byte.
      return trial.refused() && property.name != untouched_bytes_stay().name ? std::nullopt : property.broken(trial);
    });
  }

  CaseOutcome run_whole(const Case& c) override {
    return compare(
        c, [](const Trial& trial) { return breach_of(wrong_of(trial, [](const WrongByte&) { return true; }), trial); });
  }

  std::string device() override { return arena_.device(); }

 private:
  template <class Broken>
  CaseOutcome compare(const Case& c, Broken broken) {
    CaseOutcome outcome;
    try {
      const Trial trial = try_case(arena_, subject_, c);
      outcome.refused = trial.refused();
      outcome.refusal = outcome.refused ? trial.seen[0].message : std::string{};
      outcome.codes = trial.codes();
      outcome.bytes = trial.bytes();
      if (const auto wrong = misbehaviour(trial)) {
        outcome.breach = Breach{*wrong, {}, {}, true};
      } else {
        outcome.breach = broken(trial);
      }
    } catch (const KernelThrew& thrown) {
      outcome.breach =
          Breach{std::string(thrown.out_of_memory ? "the kernel ran out of memory: " : "the kernel threw: ") + thrown.what(),
                 {},
                 {}};
    }
    return outcome;
  }

  Arena& arena_;
  Subject subject_;
};

}  // namespace

std::unique_ptr<CaseRunner> run_here(Arena& arena, const Subject& subject) { return std::make_unique<Here>(arena, subject); }

}  // namespace kvproof
