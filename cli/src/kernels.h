// The chosen kernels, and for each a runner that keeps its process or its arena while it is used.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel_choice.h"
#include "kvproof/properties/case_runner.h"

namespace kvproof::cli {

// With isolation nothing is loaded into this process. A kernel on the host has a process of its own, so that one which
// quietly spoils its memory spoils no other's verdict; kernels on a device share one until one of them breaks it, as
// starting a device takes its time; so do the built-in ones.
class Kernels {
 public:
  explicit Kernels(const KernelChoice& choice);

  std::size_t size() const { return kernels_.size(); }
  const Subject& subject(std::size_t kernel) const { return kernels_[kernel].subject; }

  CaseRunner& runner(std::size_t kernel);

  // A further runner of the kernel, in a process of its own.
  std::unique_ptr<CaseRunner> another(std::size_t kernel) const;

  // Gives back what only this kernel's runner holds.
  void release(std::size_t kernel) { runners_.erase(kernel); }

  // The devices used so far, joined by ", ".
  const std::string& devices() const { return devices_; }

 private:
  std::unique_ptr<CaseRunner> make(std::size_t kernel);
  Arena& arena_of(const Subject& subject);

  KernelChoice choice_;
  std::shared_ptr<Worker> worker_;  // the one that listed the kernels
  std::vector<ChosenKernel> kernels_;
  std::map<std::string, std::unique_ptr<Arena>> arenas_;
  std::map<std::size_t, std::unique_ptr<CaseRunner>> runners_;
  std::string devices_;
};

}  // namespace kvproof::cli
