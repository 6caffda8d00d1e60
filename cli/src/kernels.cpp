#include "kernels.h"

#include "worker_command.h"

namespace kvproof::cli {
namespace {

std::shared_ptr<Worker> worker_for(const KernelChoice& choice) {
  return std::make_shared<Worker>(WorkerSetup{{worker_command}, choice.source(), choice.limits()});
}

}  // namespace

Kernels::Kernels(const KernelChoice& choice) : choice_(choice) {
  choice.check();
  if (choice.isolated()) {
    worker_ = worker_for(choice);
    kernels_ = choice.choose(worker_->subjects());
  } else {
    kernels_ = choice.choose(load_kernels(choice.source()));
  }
}

CaseRunner& Kernels::runner(std::size_t kernel) {
  std::unique_ptr<CaseRunner>& runner = runners_[kernel];
  if (!runner) {
    runner = make(kernel);
    const std::string device = runner->device();
    if (devices_.find(device) == std::string::npos) {
      devices_ += devices_.empty() ? "" : ", ";
      devices_ += device;
    }
  }
  return *runner;
}

std::unique_ptr<CaseRunner> Kernels::make(std::size_t kernel) {
  const auto& [subject, position] = kernels_[kernel];
  if (!choice_.isolated()) {
    return run_here(arena_of(subject), subject);
  }
  const bool alone = subject.memory == MemoryKind::host && !choice_.source().file.empty();
  return run_in_child(alone ? worker_for(choice_) : worker_, position);
}

std::unique_ptr<CaseRunner> Kernels::another(std::size_t kernel) const {
  return run_in_child(worker_for(choice_), kernels_[kernel].position);
}

Arena& Kernels::arena_of(const Subject& subject) {
  // A plug-in's own memory belongs to the descriptor that brings it.
  const std::string key = subject.memory == MemoryKind::own ? subject.origin + subject.title() : name_of(subject.memory);
  std::unique_ptr<Arena>& arena = arenas_[key];
  if (!arena) {
    arena = std::make_unique<Arena>(memory_of(subject));
  }
  return *arena;
}

}  // namespace kvproof::cli
