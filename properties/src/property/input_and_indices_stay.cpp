// A store reads its input and indices; it writes neither, nor the memory beside them.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> broken(const Trial& trial) {
  return breach_of(wrong_of(trial,
                            [](const WrongByte& wrong) {
                              return wrong.area != Area::pool && wrong.area != Area::guard_before_pool &&
                                     wrong.area != Area::guard_after_pool;
                            }),
                   trial);
}

}  // namespace

const Property& input_and_indices_stay() {
  static const Property property{
      .name = "input_and_indices_stay",
      .promise = "input rows, indices and the memory beside them are left as they were",
      .catches =
          "an in-place quantise, or a scratch row written back: the cache is right, and the next layer reads a changed "
          "input",
      .focus = {.most_tokens = 64, .fresh_rows = false},
      .broken = broken,
  };
  return property;
}

}  // namespace kvproof
