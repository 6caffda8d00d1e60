// A trial: one case, run under two complementary poisons and judged.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kvproof/device/arena.h"
#include "kvproof/properties/case.h"
#include "kvproof/properties/judge.h"
#include "kvproof/reference/locate.h"

namespace kvproof {

struct Trial {
  const Subject* subject = nullptr;
  const Case* run = nullptr;
  Expectation expected;
  std::array<Observation, 2> seen;  // poison, complement
  std::array<Judgement, 2> judged;

  bool refused() const { return seen[0].outcome == Outcome::refused && seen[1].outcome == Outcome::refused; }

  std::int64_t bytes() const { return judged[0].bytes + judged[1].bytes; }
  // Whether its pools are on the host, for properties that look at what was stored.
  bool has_pools() const { return seen[0].has_pool() && seen[1].has_pool(); }

  std::int64_t explained() const { return judged[0].explained + judged[1].explained; }
  std::int64_t codes() const { return refused() ? 0 : judged[0].codes + judged[1].codes; }
};

// Runs and judges. Throws BadInput when the case is outside the subject's contract, CannotRun when the device breaks. A step
// that the kernel refuses must have changed nothing; what a step then copies that was never stored is not known.
Trial try_case(Arena& arena, const Subject& subject, const Case& c, const Launch& launch = {});

// Whether `takes(token, location)` chooses a token of the call that the dialect stores.
template <class Takes>
bool any_stored(const Trial& trial, Takes takes) {
  const Case& c = *trial.run;
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    const Location at =
        locate(c.indices[static_cast<std::size_t>(token)], c.shape.pages, c.shape.page_size, trial.subject->dialect);
    if (at.fate == Fate::stored && takes(token, at)) {
      return true;
    }
  }
  return false;
}

// What a kernel said when it failed, or when it refused under one poison and not under the other.
std::optional<std::string> misbehaviour(const Trial& trial);

// Whether `second` says more of a byte than `first`. What looks unwritten under one poison may be that poison's own value,
// and so may a part of a row gone astray.
inline bool says_more(const WrongByte& second, const WrongByte& first) {
  return (first.wrong == Wrong::missing && second.wrong == Wrong::value) ||
         (first.wrong == Wrong::stray && first.holds_token < 0 && second.holds_token >= 0);
}

// The wrong bytes of either run that `is_mine` picks, as one judgement in order of area and offset.
template <class IsMine>
Judgement wrong_of(const Trial& trial, IsMine is_mine) {
  std::map<std::pair<Area, std::int64_t>, WrongByte> found;
  for (const Judgement& judged : trial.judged) {
    for (const WrongByte& wrong : judged.wrong) {
      if (is_mine(wrong)) {
        const auto [known, fresh] = found.try_emplace({wrong.area, wrong.offset}, wrong);
        if (!fresh && says_more(wrong, known->second)) {
          known->second = wrong;
        }
      }
    }
  }
  Judgement mine;
  for (const auto& [where, wrong] : found) {
    mine.wrong.push_back(wrong);
  }
  mine.wrong_bytes = static_cast<std::int64_t>(mine.wrong.size());
  return mine;
}

}  // namespace kvproof
