// kvproof replay: saved cases, run again.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "kernel_choice.h"
#include "kvproof/device/error.h"
#include "kvproof/properties/case_file.h"
#include "kvproof/properties/property.h"
#include "kvproof/reference/names.h"
#include "replaying.h"
#include "report.h"

namespace kvproof::cli {
namespace {

struct Options {
  KernelChoice kernels;
  std::vector<std::string> files;
  std::string json;
};

int replay(const Options& options) {
  std::vector<CaseFile> files;
  for (const std::string& name : options.files) {
    files.push_back(read_cases(name));
  }
  Replayer replayer(options.kernels);
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const FiledCase& filed : files[i].cases) {
      confirm_with_model(filed);
      if (replayer.run(filed, options.files[i]) == 0) {
        throw BadInput(
            fmt::format("{}: case {}: no chosen kernel takes its call: dialect {}, layout {}, {}, {}, {}, page size {}",
                        options.files[i], filed.id, filed.dialect_name, name_of(filed.run.shape.layout),
                        name_of(filed.run.shape.input_type), name_of(filed.run.shape.index_type),
                        name_of(filed.run.shape.fp8), filed.run.shape.page_size));
      }
    }
  }
  return replayer.conclude(options.json, "replay");
}

}  // namespace

void add_replay(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay", "Run saved cases again");
  command->add_option("files", options->files, "Case files")->required();
  options->kernels.add_to(*command);
  command->add_option("--json", options->json, "Write the results, with every wrong byte, to this file");
  command->footer(
      "Example:\n"
      "  kvproof replay kvproof-failures/my-kernel-flashmla-strict-values_exact-1.json --kernel ./my_kernel.so");
  command->callback([&chosen, options] { chosen.work = [options] { return replay(*options); }; });
}

}  // namespace kvproof::cli
