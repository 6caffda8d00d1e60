// A token whose index the dialect skips leaves nothing anywhere, and the others of its call are stored.
#include <algorithm>

#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Trial trial = rig.judged(rig.given());
  if (trial.refused()) {
    return std::nullopt;
  }
  const StoreShape& s = rig.given().shape;
  rig.exercised_if(std::any_of(rig.given().indices.begin(), rig.given().indices.end(), [&](std::int64_t index) {
    return locate(index, s.pages, s.page_size, rig.subject().dialect).fate == Fate::skipped;
  }));
  return breach_of(wrong_of(trial,
                            [](const WrongByte& wrong) {
                              if (wrong.area != Area::pool) {
                                return wrong.area == Area::guard_before_pool || wrong.area == Area::guard_after_pool;
                              }
                              // Rows: pad bytes and page tails are for untouched_bytes_stay, values of rows that were
                              // written for values_exact.
                              const bool row_byte = wrong.place.region != Region::pad && wrong.place.region != Region::tail;
                              return row_byte && (wrong.token < 0 || wrong.wrong == Wrong::missing);
                            }),
                   trial);
}

bool applies(const Subject& subject) {
  switch (subject.dialect.invalid) {
    case InvalidIndex::minus_one:
    case InvalidIndex::negative:
    case InvalidIndex::non_positive:
    case InvalidIndex::outside:
      return true;
    case InvalidIndex::precondition:
    case InvalidIndex::unguarded:
    case InvalidIndex::trap:
      break;
  }
  return false;
}

}  // namespace

const Property& invalid_indices_follow_the_dialect() {
  static const Property property{
      .name = "invalid_indices_follow_the_dialect",
      .promise =
          "tokens with an index that the dialect skips leave nothing anywhere, and the others of their call are stored",
      .catches =
          "-1 stored before the pool or into its last slot, a valid 0 skipped, a warp that returns early and takes its "
          "neighbour's token along: tests pass valid indices only",
      .focus = {.indices = {0, 0, 0, 0, 1, 3, 6, 0}, .most_tokens = 64, .fresh_rows = false},
      .exercised_by = "a token that the dialect skips, in a call that is not refused",
      .applies = applies,
      .where = "dialects that skip some indices",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
