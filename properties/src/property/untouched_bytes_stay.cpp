// Slot non-interference: a byte that no token owns keeps its value, in the pool and in the guards around it.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> broken(const Trial& trial) {
  return breach_of(wrong_of(trial,
                            [](const WrongByte& wrong) {
                              return wrong.area == Area::guard_before_pool || wrong.area == Area::guard_after_pool ||
                                     (wrong.area == Area::pool && wrong.token < 0);
                            }),
                   trial);
}

}  // namespace

const Property& untouched_bytes_stay() {
  static const Property property{
      .name = "untouched_bytes_stay",
      .promise = "bytes that no token owns keep their value: other slots, pad, page tail, memory around the pool",
      .catches =
          "an index -1 stored, a page tail or a neighbour's slot overwritten: inside the allocation, where memory checkers "
          "see nothing",
      .focus = {.indices = {1, 2, 3, 3, 2, 3, 5, 2}, .most_tokens = 128, .fresh_rows = false},
      .broken = broken,
  };
  return property;
}

}  // namespace kvproof
