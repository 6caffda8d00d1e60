#include "fault_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvproof {
namespace {

Area beside(Given which, Placement broke) {
  if (which == Given::input) {
    return broke == Placement::end_flush ? Area::guard_after_input : Area::guard_before_input;
  }
  return broke == Placement::end_flush ? Area::guard_after_indices : Area::guard_before_indices;
}

// Whether the run that broke came through. The one after it, which is start flush, may break at the buffer's other end.
bool came_through(const CaseOutcome& outcome, Placement broke) {
  if (!outcome.breach || !outcome.breach->ended) {
    return true;
  }
  return broke == Placement::end_flush && outcome.breach->broke_device == Placement::start_flush;
}

const char* access_of(const CaseOutcome& outcome, bool whole, Area area) {
  constexpr const char* unknown = "reads or writes";
  if (!whole) {
    return unknown;
  }
  if (!outcome.breach) {
    return "reads";
  }
  const std::vector<WrongByte>& wrong = outcome.breach->wrong;
  if (std::any_of(wrong.begin(), wrong.end(), [&](const WrongByte& byte) { return byte.area == area; })) {
    return "writes";
  }
  const bool all = !wrong.empty() && static_cast<std::int64_t>(wrong.size()) < Judgement::kept;
  return all ? "reads" : unknown;
}

}  // namespace

std::optional<std::string> fault_name(Placement broke, bool whole, const RunLoose& run) {
  const CaseOutcome indices = run(Given::indices);
  const CaseOutcome input = run(Given::input);
  const bool of_indices = came_through(indices, broke);
  if (of_indices == came_through(input, broke)) {
    return std::nullopt;
  }
  const Given which = of_indices ? Given::indices : Given::input;
  return fmt::format("it {} {} the {}: with memory there the same run breaks nothing",
                     access_of(of_indices ? indices : input, whole, beside(which, broke)),
                     broke == Placement::end_flush ? "past the end of" : "before the start of",
                     of_indices ? "indices" : "input");
}

}  // namespace kvproof
