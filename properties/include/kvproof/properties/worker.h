// A worker: a child process that loads kernels under test and runs cases on them. Whatever a kernel does to the worker comes
// back as a verdict, and the next case finds a fresh one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "kvproof/device/child.h"
#include "kvproof/properties/case_runner.h"

namespace kvproof {

// Which kernels a worker loads: all of a plug-in, or the built-in ones when `file` is empty. `device` as --device has it.
struct KernelSource {
  std::string file;
  std::string device = "auto";
};

// The kernels of a source, loaded into the calling process. Throws BadInput and CannotRun.
using LoadKernels = std::function<std::vector<Subject>(const KernelSource&)>;

// The worker's side: answers questions on the channel until it is closed. Returns the exit status.
int serve_cases(int channel, const LoadKernels& load);

struct WorkerSetup {
  std::vector<std::string> arguments;  // with which this program becomes a worker; the channel's number follows them
  KernelSource source;
  ChildLimits limits;
};

class Worker {
 public:
  explicit Worker(WorkerSetup setup);

  // The source's kernels, as data: without functions, to be named by their position. Throws what loading throws, and
  // CannotRun when loading ends the process.
  const std::vector<Subject>& subjects();

  // "host", "NVIDIA H200", ... of a kernel.
  std::string device(std::size_t subject);

  // As CaseRunner::run, of subject `subject`; without a property, as run_whole.
  CaseOutcome run(std::size_t subject, const Property* property, const Case& c,
                  const std::optional<Loosened>& loosened = {});

  // As CaseRunner::name_fault.
  void name_fault(std::size_t subject, const Property* property, const Case& c, Breach& breach);

  // As CaseRunner::run_afresh.
  CaseOutcome run_afresh(std::size_t subject, const Property* property, const Case& c);

  // As CaseRunner::prove.
  ProofAnswer prove(std::size_t subject, const ProofQuestion& question);

  // Processes started so far.
  int starts() const { return starts_; }
  std::optional<pid_t> process() const { return child_ ? std::optional(child_->process()) : std::nullopt; }

 private:
  void start();
  void open(std::size_t subject);
  // The answer to a question that runs a kernel, or the breach that the kernel's ending is.
  std::variant<std::vector<std::uint8_t>, Breach> kernel_answer(std::size_t subject, std::uint32_t kind,
                                                                const std::vector<std::uint8_t>& question);
  std::variant<std::vector<std::uint8_t>, Breach> in_a_fresh_process(std::size_t subject, std::uint32_t kind,
                                                                     const std::vector<std::uint8_t>& question,
                                                                     std::size_t ran_before, const std::string& why);
  std::vector<std::uint8_t> loading_answer(std::uint32_t kind, const std::vector<std::uint8_t>& question, const char* doing);

  WorkerSetup setup_;
  std::unique_ptr<Child> child_;
  std::optional<std::vector<Subject>> subjects_;
  std::vector<std::string> devices_;
  std::set<std::size_t> open_;      // subjects that the present process has an arena for
  std::set<std::size_t> hung_;      // subjects that once did not return
  std::optional<std::size_t> ran_;  // the subject that ran last in the present process
  int starts_ = 0;
};

// Runs cases of one subject of a worker.
std::unique_ptr<CaseRunner> run_in_child(std::shared_ptr<Worker> worker, std::size_t subject);

}  // namespace kvproof
