#include "kvproof/properties/case_runner.h"

namespace kvproof {
namespace {

class Here final : public CaseRunner {
 public:
  Here(Arena& arena, const Subject& subject) : arena_(arena), subject_(subject) {}

  CaseOutcome run(const Property& property, const Case& c) override {
    const Trial trial = try_case(arena_, subject_, c);
    CaseOutcome outcome;
    outcome.refused = trial.refused();
    outcome.refusal = outcome.refused ? trial.seen[0].message : std::string{};
    outcome.codes = trial.codes();
    outcome.bytes = trial.bytes();
    if (const auto wrong = misbehaviour(trial)) {
      outcome.breach = Breach{*wrong, {}, {}};
    } else if (!outcome.refused || property.name == untouched_bytes_stay().name) {
      outcome.breach = property.broken(trial);  // a refusal has no values; it must have left every byte
    }
    return outcome;
  }

 private:
  Arena& arena_;
  const Subject& subject_;
};

}  // namespace

std::unique_ptr<CaseRunner> run_here(Arena& arena, const Subject& subject) { return std::make_unique<Here>(arena, subject); }

}  // namespace kvproof
