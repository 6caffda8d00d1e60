// kvproof vectors: golden vectors made from the model, or run against a kernel.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands.h"
#include "kernel_choice.h"
#include "kvproof/device/error.h"
#include "kvproof/properties/case_file.h"
#include "kvproof/properties/vectors.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/names.h"
#include "replaying.h"

namespace kvproof::cli {
namespace {

namespace fs = std::filesystem;

struct MakeOptions {
  std::string output = "corpus/vectors";
  std::string layout;
  std::string dialect;
};

struct CheckOptions {
  KernelChoice kernels;
  std::vector<std::string> paths{"corpus/vectors"};
  std::string json;
};

int make(const MakeOptions& options) {
  std::size_t cases = 0;
  std::int64_t bytes = 0;
  int files = 0;
  for (const NamedDialect& entry : dialects()) {
    const auto layout = name_of(entry.dialect.layout);
    if ((!options.layout.empty() && options.layout != layout) ||
        (!options.dialect.empty() && options.dialect != entry.name)) {
      continue;
    }
    const CaseFile file = make_vectors(entry);
    for (const FiledCase& filed : file.cases) {
      bytes += confirm_with_oracle(filed);
    }
    const fs::path path = fs::path(options.output) / fmt::format("{}-{}.json", layout, entry.name);
    save_cases(path, file);
    fmt::print("{}: {} cases\n", path.string(), file.cases.size());
    cases += file.cases.size();
    ++files;
  }
  if (files == 0) {
    throw BadInput(fmt::format("no dialect {} of layout {}: expected one of {}",
                               options.dialect.empty() ? "(any)" : options.dialect,
                               options.layout.empty() ? "(any)" : options.layout, dialect_names()));
  }
  fmt::print("{} cases in {} files; {} of expected pool confirmed by the oracle, byte by byte\n", cases, files,
             bytes_counted(bytes));
  return holds;
}

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".json") {
        found.push_back(entry.path().string());
      }
    }
    if (found.empty()) {
      throw BadInput(fmt::format("{}: no .json file in this folder, expected case files", path));
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

int check(const CheckOptions& options) {
  const std::vector<std::string> files = files_of(options.paths);
  Replayer replayer(options.kernels);
  std::size_t total = 0;
  std::size_t not_taken = 0;
  for (const std::string& name : files) {
    for (const FiledCase& filed : read_cases(name).cases) {
      confirm_with_model(filed);
      ++total;
      not_taken += replayer.run(filed, name) == 0 ? 1 : 0;
    }
  }
  fmt::print("{} cases in {} files, {} of dialects or types that no chosen kernel speaks\n", total, files.size(), not_taken);
  return replayer.conclude(options.json, "vectors check");
}

}  // namespace

void add_vectors(CLI::App& app, Chosen& chosen) {
  CLI::App* vectors = app.add_subcommand("vectors", "Make golden vectors, or run a kernel over them");
  vectors->require_subcommand(1);
  vectors->footer("Examples:\n  kvproof vectors check --kernel ./my_kernel.so\n  kvproof vectors make --output vectors");

  auto make_options = std::make_shared<MakeOptions>();
  CLI::App* make_command =
      vectors->add_subcommand("make", "Write vectors for every dialect, each byte confirmed by the oracle");
  make_command->add_option("--output", make_options->output, "Folder to write to")->capture_default_str();
  make_command->add_option("--layout", make_options->layout, "Only this layout: " + names_of<Layout>());
  make_command->add_option("--dialect", make_options->dialect, "Only this dialect: " + dialect_names());
  make_command->footer("Example:\n  kvproof vectors make --output vectors --dialect strict");
  make_command->callback([&chosen, make_options] { chosen.work = [make_options] { return make(*make_options); }; });

  auto check_options = std::make_shared<CheckOptions>();
  CLI::App* check_command = vectors->add_subcommand("check", "Run kernels over vectors and compare every byte");
  check_command->add_option("paths", check_options->paths, "Case files, or folders of them")->capture_default_str();
  check_options->kernels.add_to(*check_command);
  check_command->add_option("--json", check_options->json, "Write the results, with every wrong byte, to this file");
  check_command->footer("Example:\n  kvproof vectors check corpus/vectors --kernel ./my_kernel.so");
  check_command->callback([&chosen, check_options] { chosen.work = [check_options] { return check(*check_options); }; });
}

}  // namespace kvproof::cli
