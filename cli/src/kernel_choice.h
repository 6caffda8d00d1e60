// Which kernels a command works on, --kernel, --layout, --dialect and --device, and how they are run: --isolation,
// --case-timeout and --memory-limit.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kvproof/device/subject.h"
#include "kvproof/properties/worker.h"

namespace kvproof::cli {

struct ChosenKernel {
  Subject subject;
  std::size_t position = 0;  // among all kernels of the source
};

struct KernelChoice {
  std::string kernel;   // empty: the built-in ones; NAME; FILE.so; FILE.so:NAME; names joined by commas
  std::string layout;   // empty: any
  std::string dialect;  // empty: any
  std::string device = "auto";
  std::string isolation = "process";
  double case_seconds = 10;
  std::uint64_t memory_limit = std::uint64_t{8} << 30;

  // Adds the options to a subcommand.
  void add_to(CLI::App& command);

  // The options as they must be given again, as a shell takes them, each with a space before it.
  std::string arguments() const;

  KernelSource source() const;
  ChildLimits limits() const;
  bool isolated() const { return isolation != "none"; }

  // Throws BadInput for a value that could match nothing, before anything is loaded.
  void check() const;

  // Those of the source's kernels that are chosen, at least one. Throws BadInput when nothing matches.
  std::vector<ChosenKernel> choose(const std::vector<Subject>& all) const;
};

// Loads the kernels of a source into this process. Throws CannotRun when they have no device here.
std::vector<Subject> load_kernels(const KernelSource& source);

// "host", "cuda" or "own".
std::string name_of(MemoryKind memory);

}  // namespace kvproof::cli
