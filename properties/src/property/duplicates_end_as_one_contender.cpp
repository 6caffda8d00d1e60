// A slot that several tokens of a call name ends with what the kernel promises of them.
#include <algorithm>

#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Trial trial = rig.judged(rig.given());
  if (trial.refused()) {
    return std::nullopt;
  }
  // With the promise that the last token wins, the judge knows one contender only.
  std::vector<bool> contended(trial.expected.first.size(), false);
  const StoreShape& s = trial.run->shape;
  std::vector<int> names(contended.size(), 0);
  for (const std::int64_t index : trial.run->indices) {
    const Location at = locate(index, s.pages, s.page_size, trial.subject->dialect);
    if (at.fate == Fate::stored) {
      const auto slot = static_cast<std::size_t>(at.page * s.page_size + at.slot);
      contended[slot] = ++names[slot] > 1;
    }
  }
  rig.exercised_if(std::find(contended.begin(), contended.end(), true) != contended.end());
  return breach_of(wrong_of(trial,
                            [&](const WrongByte& wrong) {
                              return wrong.area == Area::pool && wrong.token >= 0 &&
                                     contended[static_cast<std::size_t>(wrong.page * s.page_size + wrong.place.slot)];
                            }),
                   trial);
}

bool applies(const Subject& subject) { return subject.duplicates != Duplicates::forbidden; }

}  // namespace

const Property& duplicates_end_as_one_contender() {
  static const Property property{
      .name = "duplicates_end_as_one_contender",
      .promise =
          "a slot that several tokens name ends as the kernel promises: each unit, row or byte of some contender, or the "
          "last",
      .catches =
          "padding rows all carry index 0: a scale of one row over the codes of another reads as garbage, and no test "
          "stores a slot twice",
      .focus = {.indices = {0, 0, 0, 0, 3, 0, 0, 7}, .most_tokens = 48},
      .exercised_by = "a slot that several tokens name, in a call that is stored",
      .applies = applies,
      .where = "kernels that do not forbid duplicates",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
