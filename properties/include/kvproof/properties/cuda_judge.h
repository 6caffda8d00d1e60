// The judge on the GPU: one pass over the pool where it is; only what is wrong comes back.
#pragma once

#include <memory>

#include "kvproof/properties/judge.h"

namespace kvproof {

class CudaJudge {
 public:
  CudaJudge();
  ~CudaJudge();
  CudaJudge(const CudaJudge&) = delete;
  CudaJudge& operator=(const CudaJudge&) = delete;

  // Brings to the device what the runs of one case are judged by. Rows that `expected` leaves out are encoded there. Throws
  // CannotRun when the device has no room or breaks.
  void prepare(const Expectation& expected, const std::vector<std::uint8_t>& input, const std::vector<std::uint8_t>& indices,
               void* stream);

  // Queues the comparison of a run in place; `result` waits for it.
  void start(const Expectation& expected, const Observation& seen);
  Judgement result(const Expectation& expected, const Observation& seen, const std::vector<std::uint8_t>& input);

  // All of what `expected` says, as judge() of the host does it.
  Judgement judge(const Expectation& expected, const Observation& seen, const std::vector<std::uint8_t>& input) {
    start(expected, seen);
    return result(expected, seen, input);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kvproof
