// Starting a child: this program again, in a process group of its own, with nothing inherited but the channel.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kvproof {

struct StartedChild {
  pid_t process = -1;
  int channel = -1;  // the parent's end, non-blocking
  int output = -1;   // what it prints, non-blocking
};

// Throws CannotRun.
StartedChild start_child(const std::vector<std::string>& arguments);

}  // namespace kvproof
