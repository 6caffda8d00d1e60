// Which kernels a command works on: --kernel, --layout, --dialect, --device.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kvproof/device/subject.h"

namespace kvproof::cli {

struct KernelChoice {
  std::string kernel;   // empty: the built-in ones; NAME; FILE.so; FILE.so:NAME
  std::string layout;   // empty: any
  std::string dialect;  // empty: any
  std::string device = "auto";

  // Adds the options to a subcommand.
  void add_to(CLI::App& command);

  // The options as they must be given again, each with a space before it.
  std::string arguments() const;

  // The kernels chosen, at least one. Throws BadInput when nothing matches, CannotRun when what matches has no device here.
  std::vector<Subject> subjects() const;
};

// "host", "cuda" or "own".
std::string name_of(MemoryKind memory);

}  // namespace kvproof::cli
