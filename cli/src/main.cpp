// The command, kvproof, and its subcommands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "kvproof/device/child.h"
#include "kvproof/device/error.h"
#include "worker_command.h"

namespace {

namespace cli = kvproof::cli;

// The commands for people, in words.
std::string command_names(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](CLI::App* one) { return !one->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  const std::string last = std::move(names.back());
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

bool is_command(CLI::App& app, const std::string& word) {
  return !app.get_subcommands([&](CLI::App* command) { return command->check_name(word); }).empty();
}

// Parses the command line; what it leaves to do is in `chosen`. Returns the exit status where there is nothing left to do.
std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  // CLI11 answers --help before it looks at the words around it.
  if (argc > 1 && argv[1][0] != '-' && !is_command(app, argv[1])) {
    fmt::print(stderr, "kvproof: {}: no such command, expected {} (see kvproof --help)\n", argv[1], command_names(app));
    return cli::bad_input;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* command = &app;
    while (!command->get_subcommands().empty()) {
      command = command->get_subcommands().front();
    }
    fmt::print("{}", command->help());
    return cli::holds;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return cli::holds;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "kvproof: {} (see kvproof --help)\n", error.what());
    return cli::bad_input;
  }
  return std::nullopt;
}

int work(CLI::App& app, const cli::Chosen& chosen) {
  if (!app.got_subcommand(cli::worker_command)) {
    kvproof::adopt_strays();
    kvproof::end_children_on_signals();
  }
  try {
    return chosen.work();
  } catch (const kvproof::BadInput& error) {
    fmt::print(stderr, "kvproof: {}\n", error.what());
    return cli::bad_input;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kvproof: {}\n", error.what());
    return cli::cannot_run;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("kvproof: proves that a kernel which stores FP8 KV-cache rows is exactly right");
  app.set_version_flag("--version", std::string("kvproof ") + KVPROOF_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example:\n  kvproof check --kernel ./my_kernel.so\n"
      "Exit status: 0 holds, 1 a property fails, 2 bad usage or input, 3 could not run.");
  cli::Chosen chosen;
  chosen.program = argc > 0 ? argv[0] : "kvproof";
  cli::add_addresses(app, chosen);
  cli::add_check(app, chosen);
  cli::add_fuzz(app, chosen);
  cli::add_list(app, chosen);
  cli::add_prove(app, chosen);
  cli::add_replay(app, chosen);
  cli::add_selftest(app, chosen);
  cli::add_vectors(app, chosen);
  cli::add_worker(app, chosen);
  const std::optional<int> over = parse(app, argc, argv);
  const int status = over ? *over : work(app, chosen);
  // A result that nobody could read is none.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && status == cli::holds) {
    fmt::print(stderr, "kvproof: standard output cannot be written\n");
    return cli::cannot_run;
  }
  return status;
}
