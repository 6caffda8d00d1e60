// Halving what breaks a proof.
#pragma once

#include <chrono>
#include <cstdint>

namespace kvproof {

// Numbers [first, last).
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t size() const { return last - first; }
};

// A part of `all`, which is known to break, that still does and neither half of which does; more than that when the time is
// up. `breaks` is asked of spans.
template <class Breaks>
Span narrowed(Span all, std::chrono::steady_clock::time_point until, Breaks breaks) {
  while (all.size() > 1 && std::chrono::steady_clock::now() < until) {
    const std::int64_t middle = all.first + all.size() / 2;
    if (breaks(Span{all.first, middle})) {
      all.last = middle;
    } else if (breaks(Span{middle, all.last})) {
      all.first = middle;
    } else {
      break;
    }
  }
  return all;
}

}  // namespace kvproof
