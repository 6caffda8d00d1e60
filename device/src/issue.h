// Issuing the calls of a run, and what the kernel answers.
#pragma once

#include <string>
#include <vector>

#include "kvproof/device/arena.h"

namespace kvproof {

// What a kernel has said to the calls so far.
class Answers {
 public:
  // Makes one call, the step `step` of its run. False when it failed: then no further call is made.
  bool call(const Subject& subject, const kvproof_store_call& call, std::size_t step);

  // Something went wrong outside of a call.
  void fail(std::string what);

  // A run is refused when every call is.
  void tell(Observation& seen) const;

 private:
  std::size_t calls_ = 0;
  std::vector<std::size_t> refused_;
  bool failed_ = false;
  std::string message_;
};

// The calls of a run that makes nothing but calls, in order.
std::vector<kvproof_store_call> calls_of(const Launch& launch, const StoreShape& shape, const kvproof_store_call& whole);

}  // namespace kvproof
