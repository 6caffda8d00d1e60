// A rig: what a property works with that needs several runs, of its case and of cases made from it. Runs are compared with
// each other, which needs no model of the values and holds in every dialect, or judged byte by byte like any trial.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kvproof/properties/draw.h"
#include "kvproof/properties/trial.h"

namespace kvproof {

struct Breach;

// What a run left in the pool.
struct PoolAfter {
  static constexpr std::int32_t several = -2;

  Case run;
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> owner;  // of each slot: the one token that names it, `nobody`, or `several`

  const std::uint8_t* data(std::int64_t slot) const { return bytes.data() + data_at(slot); }
  const std::uint8_t* scales(std::int64_t slot) const { return bytes.data() + scales_at(slot); }
  std::int64_t data_at(std::int64_t slot) const;  // offsets from the pool's base
  std::int64_t scales_at(std::int64_t slot) const;
};

// A kernel that failed, or answered two equal calls differently: thrown to whoever runs the property.
class Misbehaved : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the runs of one case came to.
struct RigCounts {
  bool refused = false;
  bool exercised = false;  // the promise was put to the test
  std::string refusal;     // the first
  std::int64_t codes = 0;  // compared with another run's, or judged
  std::int64_t bytes = 0;
};

class Rig {
 public:
  Rig(Arena& arena, const Subject& subject, const Case& given) : arena_(arena), subject_(subject), given_(given) {}
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  const Subject& subject() const { return subject_; }
  const Case& given() const { return given_; }

  // Draws that depend on the case alone: a saved case makes the same runs again.
  Draw draw() const { return Draw(given_.poison_seed ^ 0x72696773ULL); }

  // Poisons the pool, launches, and returns what is there; nothing where the kernel refuses to store tokens. The guards are
  // left to properties that judge. Throws BadInput when the case is outside the subject's contract, Misbehaved when the
  // kernel fails.
  std::optional<PoolAfter> run(const Case& c, const Launch& launch = {});

  // Two runs, judged. Throws Misbehaved as well. `c` must outlive the trial.
  Trial judged(const Case& c, const Launch& launch = {});

  void compared(std::int64_t bytes, std::int64_t codes) {
    counts_.bytes += bytes;
    counts_.codes += codes;
  }
  void refused(const std::string& message);
  // Said by the property when its runs were stored and differ in what the promise is about.
  void exercised_if(bool so) { counts_.exercised = counts_.exercised || so; }
  const RigCounts& counts() const { return counts_; }

 private:
  Arena& arena_;
  const Subject& subject_;
  const Case& given_;
  RigCounts counts_;
};

// Whether `takes(token)` chooses a token that has a slot to itself.
template <class Takes>
bool any_row(const PoolAfter& after, Takes takes) {
  return std::any_of(after.owner.begin(), after.owner.end(),
                     [&](std::int32_t owner) { return owner >= 0 && takes(static_cast<std::int64_t>(owner)); });
}

// Whether any token has.
inline bool any_row(const PoolAfter& after) {
  return any_row(after, [](std::int64_t) { return true; });
}

// Whether tokens before `boundary` and tokens from there on have.
inline bool rows_on_both_sides(const PoolAfter& after, std::int64_t boundary) {
  return any_row(after, [&](std::int64_t token) { return token < boundary; }) &&
         any_row(after, [&](std::int64_t token) { return token >= boundary; });
}

// What two runs differ in, in words.
class Differences {
 public:
  void add(std::string place);
  bool room() const { return static_cast<std::int64_t>(places_.size()) < Judgement::kept; }
  // "3 bytes differ: <of what>", or nothing.
  std::optional<Breach> breach(std::string_view of_what) const;

 private:
  std::vector<std::string> places_;
  std::int64_t total_ = 0;
};

// "code of page 0 slot 3 tile 2 element 5", of an offset from the pool's base.
std::string place_in_pool(const StoreShape& shape, std::int64_t offset);

// Whether two runs of equal pools left the same bytes everywhere but in slots that several tokens of either name. `first`
// and `second` say which run is which: "in one call", "in 3 calls".
std::optional<Breach> pools_differ(Rig& rig, const PoolAfter& a, const PoolAfter& b, std::string_view first,
                                   std::string_view second);

// Calls `take(token, slot)` for every slot that one and the same token alone names in both runs.
template <class Take>
void for_each_row(const PoolAfter& a, const PoolAfter& b, Take take) {
  for (std::size_t slot = 0; slot < a.owner.size() && slot < b.owner.size(); ++slot) {
    if (a.owner[slot] >= 0 && a.owner[slot] == b.owner[slot]) {
      take(static_cast<std::int64_t>(a.owner[slot]), static_cast<std::int64_t>(slot));
    }
  }
}

}  // namespace kvproof
