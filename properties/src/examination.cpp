#include "kvproof/properties/examination.h"

#include <algorithm>

#include "kvproof/properties/proof_domain.h"
#include "kvproof/properties/prove.h"

namespace kvproof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t most_proof_rows = 4096;  // of one domain

constexpr int more_cases = 4;  // times as many, each time that properties are asked again

// Of properties whose cases are costly a quarter, but no fewer than `least_costly`.
constexpr int least_costly = 25;
int cases_for(const Property& property, int cases) {
  return property.focus.costly() ? std::min(cases, std::max(least_costly, cases / 4)) : cases;
}

class Examiner {
 public:
  Examiner(CaseRunner& runner, const Subject& subject, const ExaminationOptions& options)
      : runner_(runner), subject_(subject), options_(options) {
    found_.seen.assign(detectors().size(), false);
  }

  Examination work() {
    const Clock::time_point stop = start_ + std::chrono::duration_cast<Clock::duration>(options_.budget);
    int cases = options_.cases;
    std::uint64_t seed = options_.seed;
    bool ended = all(cases, seed, options_.large_shapes);
    if (options_.proof && !ended) {
      prove();
    }
    if (!ended && !found_.caught() && !options_.large_shapes && options_.insist &&
        large_shapes_land().applies_to(subject_)) {
      ended = ask(large_shapes_land(), cases, seed);
    }
    while (options_.insist && !ended && !found_.caught() && Clock::now() < stop) {
      cases *= more_cases;
      ended = all(cases, ++seed, true);
    }
    if (!found_.caught() && !found_.proof_fails) {
      found_.seconds = since_start();
    }
    return found_;
  }

 private:
  double since_start() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // Whether the kernel ended the process: then there is no more to be seen of it.
  bool all(int cases, std::uint64_t seed, bool large_shapes) {
    for (const Property& property : properties()) {
      if (!property.applies_to(subject_) || (property.name == large_shapes_land().name && !large_shapes)) {
        continue;
      }
      if (ask(property, cases, seed)) {
        return true;
      }
    }
    return false;
  }

  bool ask(const Property& property, int cases, std::uint64_t seed) {
    CheckOptions check;
    check.seed = seed;
    check.cases = cases_for(property, cases);
    check.shrink_budget = std::chrono::duration<double>(0);
    check.save.clear();
    check.run_afresh = false;
    const PropertyResult result = check_property(runner_, subject_, property, check, [](const PropertyResult&) {});
    found_.cases += result.cases;
    found_.codes += result.codes;
    if (result.holds()) {
      return false;
    }
    const Breach& breach = result.failure->breach;
    for (std::size_t i = 0; i < detectors().size(); ++i) {
      found_.seen[i] = found_.seen[i] || (detectors()[i].caught != nullptr && detectors()[i].caught(property, breach));
    }
    if (!breach.ended) {
      found_.failed.emplace_back(property.name);
    }
    if (!found_.caught()) {
      found_.property = property.name;
      found_.summary = breach.summary;
      found_.seconds = since_start();
    }
    return breach.ended;
  }

  // The first rows of each domain of each fp8 type, until one is wrong.
  void prove() {
    const ElementType input = subject_.input_types.front();
    for (const Fp8 fp8 : subject_.fp8_types) {
      for (const Domain domain :
           {Domain::non_finite, Domain::positions, Domain::codes, Domain::pairs, Domain::scales, Domain::rope}) {
        const std::int64_t rows = ProofDomain(domain, subject_.dialect, input, fp8).rows();
        if (rows == 0) {
          continue;
        }
        ProofTask task{domain, input, fp8, {}};
        task.shard.of = (rows + most_proof_rows - 1) / most_proof_rows;
        task.shard.number = (task.shard.of + 1) / 2;  // of the middle: amaxes and values that kernels meet
        ProveOptions quiet;
        quiet.save.clear();
        quiet.narrow = {};
        const ProofResult result = prove_domain(runner_, subject_, task, quiet, [](const ProofResult&) {});
        found_.codes += result.codes;
        if (result.failure) {
          const auto proof = std::find_if(detectors().begin(), detectors().end(),
                                          [](const Detector& detector) { return detector.caught == nullptr; });
          found_.seen[static_cast<std::size_t>(proof - detectors().begin())] = true;
          found_.proof_fails = true;
          if (!found_.caught()) {
            found_.summary = result.failure->summary;
            found_.seconds = since_start();
          }
          return;
        }
      }
    }
  }

  CaseRunner& runner_;
  const Subject& subject_;
  const ExaminationOptions& options_;
  const Clock::time_point start_ = Clock::now();
  Examination found_;
};

}  // namespace

std::string Examination::letters() const {
  std::string all;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    all += seen[i] ? detectors()[i].letter : '.';
  }
  return all;
}

Examination examine(CaseRunner& runner, const Subject& subject, const ExaminationOptions& options) {
  return Examiner(runner, subject, options).work();
}

}  // namespace kvproof
