// Whose turn it is: calls with pools of gigabytes, or all others.
//
// Where such a pool is memory that is laid out, filled and judged, one takes as long as hundreds of other calls, and so does
// the way back to small pools. So they come in groups, and all groups take a quarter of the time.
#pragma once

#include <chrono>

namespace kvproof::fuzz {

class FarTurns {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr int group = 8;   // calls
  static constexpr int others = 3;  // how many times the groups' time is the others'

  bool far() const { return far_; }

  // What the call, or the calls run as one, of this turn took.
  void took(Duration time) {
    if (far_) {
      owed_ += others * time;
      far_ = ++calls_ < group;
      return;
    }
    owed_ -= time;
    if (owed_ <= Duration::zero()) {
      pass();
    }
  }

  // The turn is over, also where there is no call for it.
  void pass() {
    far_ = !far_;
    calls_ = 0;
    owed_ = Duration::zero();
  }

 private:
  bool far_ = false;
  int calls_ = 0;  // of this group
  Duration owed_ = Duration::zero();
};

}  // namespace kvproof::fuzz
