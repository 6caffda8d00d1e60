// How a run reaches its kernel: in which calls, and how they are launched.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "kvproof/reference/call.h"

namespace kvproof {

// One store call: the tokens [first, first + tokens) of the run's.
struct StoreTokens {
  std::int64_t first = 0;
  std::int64_t tokens = 0;
};

// An engine that copies a page copies its slots: codes, rope and scales of slot `from` to slot `to`, and the pad byte if
// the dialect writes it.
struct CopySlot {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

using Step = std::variant<StoreTokens, CopySlot>;

enum class LaunchMode : std::uint32_t {
  in_turn,     // one step after the other on one stream
  captured,    // CUDA: all calls captured into one graph, which is launched twice over a fresh pool; the second is seen
  two_streams  // CUDA: the calls alternate between two streams, which begin together
};

// What happens to one pool between its poison and the look at it.
struct Launch {
  std::vector<Step> steps;  // empty: one call of all tokens
  LaunchMode mode = LaunchMode::in_turn;
  bool null_when_empty = false;  // calls of no tokens carry null for input and indices, as an empty tensor does
};

inline std::vector<Step> steps_of(const Launch& launch, const StoreShape& shape) {
  return launch.steps.empty() ? std::vector<Step>{StoreTokens{0, shape.tokens}} : launch.steps;
}

}  // namespace kvproof
