// One line on a terminal that says how far a long command is; nothing in a pipe.
#pragma once

#include <chrono>
#include <string>

namespace kvproof::cli {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows `line`, at most ten times a second.
  void show(const std::string& line);

  // Takes the line away before something is printed.
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace kvproof::cli
