// How long it takes until a kernel runs again after one has ended its process.
#pragma once

#include <string>

namespace kvproof::bench {

struct Restart {
  std::string device;
  int times = 0;
  double mean = 0;  // seconds, from the question after the ending to its answer
  double slowest = 0;
  double first = 0;  // the first process: loading, the device and the arena
};

// Runs the kernel `abort` and then `right` of the plug-in `planted`, again and again. `device` is host or cuda. This program
// is its own worker. Throws BadInput and CannotRun.
Restart child_restart(const std::string& planted, const std::string& device, int times);

// The worker's side: the exit status where the arguments are those of one, else -1.
int serve(int argc, char** argv);

}  // namespace kvproof::bench
