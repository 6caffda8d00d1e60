// Codes, scales and written pad bytes are the model's, bit for bit.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> broken(const Trial& trial) {
  return breach_of(wrong_of(trial,
                            [](const WrongByte& wrong) {
                              return wrong.area == Area::pool && wrong.token >= 0 && wrong.place.region != Region::rope;
                            }),
                   trial);
}

}  // namespace

const Property& values_exact() {
  static const Property property{
      .name = "values_exact",
      .promise = "every code, scale and written pad byte is the one the dialect defines",
      .catches =
          "a scale one binade off, a rounding rule, a floor: within the tolerance of a test that compares decoded values",
      .focus = {.indices = {2, 3, 1, 1, 0, 0, 1, 1}, .most_tokens = 48},
      .broken = broken,
  };
  return property;
}

}  // namespace kvproof
