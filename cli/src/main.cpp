// The command: kvproof check | list | replay | vectors.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "commands.h"
#include "kvproof/device/child.h"
#include "kvproof/device/error.h"
#include "worker_command.h"

int main(int argc, char** argv) {
  namespace cli = kvproof::cli;
  CLI::App app("kvproof: proves that a kernel which stores FP8 KV-cache rows is exactly right");
  app.set_version_flag("--version", std::string("kvproof ") + KVPROOF_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example:\n  kvproof check --kernel ./my_kernel.so\n"
      "Exit status: 0 holds, 1 a property fails, 2 bad usage or input, 3 could not run.");
  cli::Chosen chosen;
  chosen.program = argc > 0 ? argv[0] : "kvproof";
  cli::add_check(app, chosen);
  cli::add_list(app, chosen);
  cli::add_replay(app, chosen);
  cli::add_vectors(app, chosen);
  cli::add_worker(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* command = &app; command != nullptr;) {
      const auto parsed = command->get_subcommands();
      if (parsed.empty()) {
        fmt::print("{}", command->help());
        return cli::holds;
      }
      command = parsed.front();
    }
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return cli::holds;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "kvproof: {} (see kvproof --help)\n", error.what());
    return cli::bad_input;
  }
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
