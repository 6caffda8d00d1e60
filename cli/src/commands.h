// The subcommands. Each adds itself to the command line and leaves its work in `chosen`, which main runs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace kvproof::cli {

// Exit statuses, the same for every subcommand.
enum Status : int { holds = 0, fails = 1, bad_input = 2, cannot_run = 3 };

// `program` is the name the command was called by, for the lines that say how to repeat something.
struct Chosen {
  std::string program;
  std::function<int()> work;
};

void add_addresses(CLI::App& app, Chosen& chosen);
void add_check(CLI::App& app, Chosen& chosen);
void add_fuzz(CLI::App& app, Chosen& chosen);
void add_list(CLI::App& app, Chosen& chosen);
void add_prove(CLI::App& app, Chosen& chosen);
void add_replay(CLI::App& app, Chosen& chosen);
void add_selftest(CLI::App& app, Chosen& chosen);
void add_vectors(CLI::App& app, Chosen& chosen);
void add_worker(CLI::App& app, Chosen& chosen);

}  // namespace kvproof::cli
