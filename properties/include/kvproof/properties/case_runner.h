// Running one case: in this process, or in a child process that may die of it (worker.h).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kvproof/device/arena.h"
#include "kvproof/properties/proof_runner.h"
#include "kvproof/properties/property.h"

namespace kvproof {

// What came of a case.
struct CaseOutcome {
  bool refused = false;
  bool exercised = false;         // the property's promise was put to the test
  std::string refusal;            // the kernel's words
  std::int64_t codes = 0;         // compared with a value of the model
  std::int64_t bytes = 0;         // compared
  std::int64_t explained = 0;     // codes accepted only for the dialect's declared error
  std::string explained_example;  // one of them
  std::optional<Breach> breach;   // how the property was broken
};

class CaseRunner {
 public:
  CaseRunner() = default;
  CaseRunner(const CaseRunner&) = delete;
  CaseRunner& operator=(const CaseRunner&) = delete;
  virtual ~CaseRunner() = default;

  // Runs `c` and asks `property` of it. Throws BadInput when the case is outside the subject's contract, CannotRun when the
  // device breaks.
  virtual CaseOutcome run(const Property& property, const Case& c) = 0;

  // Runs `c` and compares everything: every byte must be right, whatever property it belongs to.
  virtual CaseOutcome run_whole(const Case& c) = 0;

  // A broken device does not say where: adds what further runs of `c` tell to the breach of it that `run` gave, or run_whole
  // where `property` is null. For the breach that is told, not for each on the way to it: every run may cost a process.
  virtual void name_fault(const Property* /*property*/, const Case& /*c*/, Breach& /*breach*/) {}

  // As `run`, or as run_whole where `property` is null, in a process in which nothing ran before; nothing where the runner
  // has none to give.
  virtual std::optional<CaseOutcome> run_afresh(const Property* /*property*/, const Case& /*c*/) { return std::nullopt; }

  // Rows of a proof's domain. What the kernel throws, and what ends its process, is a failure. Throws CannotRun when the
  // device breaks.
  virtual ProofAnswer prove(const ProofQuestion& question) = 0;

  // "host", "NVIDIA H200", ...
  virtual std::string device() = 0;

  // Whether a kernel may do anything at all to the process it runs in, so that calls may be drawn that end it.
  virtual bool isolated() const { return false; }
};

// Runs cases of one subject here. What the kernel throws is a breach.
std::unique_ptr<CaseRunner> run_here(Arena& arena, const Subject& subject);

}  // namespace kvproof
