#include "worker_command.h"

#include "commands.h"
#include "kernel_choice.h"

namespace kvproof::cli {

void add_worker(CLI::App& app, Chosen& chosen) {
  auto channel = std::make_shared<int>(-1);
  CLI::App* command = app.add_subcommand(worker_command, "Run cases for the process that started this one");
  command->group("");  // not for people, so not in the help
  command->add_option("channel", *channel, "Number of the descriptor to speak through")->required();
  command->callback([&chosen, channel] { chosen.work = [channel] { return serve_cases(*channel, load_kernels); }; });
}

}  // namespace kvproof::cli
