// Running filed cases on every kernel that takes them: what `replay` and `vectors check` share, and how to ask for it.
#pragma once

#include <filesystem>
#include <string>

#include "kernels.h"
#include "kvproof/properties/case_file.h"
#include "report.h"

namespace kvproof::cli {

// The command that runs a saved case again, as a shell takes it.
std::string replay_command(const std::string& program, const std::filesystem::path& file, const KernelChoice& kernels);

class Replayer {
 public:
  explicit Replayer(const KernelChoice& choice);

  // Runs the case on each subject that speaks its dialect and takes its types; prints what is wrong. Returns how many did.
  int run(const FiledCase& filed, const std::string& file);

  // Prints the totals, writes the JSON if a path is given, and returns the exit status.
  int conclude(const std::string& json_path, const std::string& command) const;

  std::int64_t cases() const { return cases_; }

 private:
  Kernels kernels_;
  std::int64_t cases_ = 0;
  std::int64_t refused_ = 0;
  std::int64_t broken_ = 0;
  std::int64_t codes_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t explained_ = 0;
  Json failures_ = Json::array();
};

}  // namespace kvproof::cli
