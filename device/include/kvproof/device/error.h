// What went wrong, with the exit status that the command ends with.
#pragma once

#include <stdexcept>
#include <string>

namespace kvproof {

// Bad usage or input: exit status 2. The text is one line that names the thing, the value and what was expected.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Could not run (no device, a plug-in that does not load, memory that cannot be had): exit status 3.
class CannotRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kvproof
