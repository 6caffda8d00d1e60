// The 64 rope values of a FlashMLA row arrive bit for bit.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> broken(const Trial& trial) {
  return breach_of(wrong_of(trial,
                            [](const WrongByte& wrong) {
                              return wrong.area == Area::pool && wrong.token >= 0 && wrong.place.region == Region::rope;
                            }),
                   trial);
}

}  // namespace

const Property& rope_copied() {
  static const Property property{
      .name = "rope_copied",
      .promise = "rope values are copied bit for bit: NaN payloads, -0 and subnormals too",
      .catches =
          "a conversion through float that quiets NaN or flushes subnormals: equal by value, and NaN never equals itself in "
          "a test",
      .focus = {.indices = {2, 3, 1, 1, 0, 0, 0, 1}, .most_tokens = 48},
      .broken = broken,
      .applies = [](const Subject& subject) { return layout_shape(subject.dialect.layout).rope != 0; },
  };
  return property;
}

}  // namespace kvproof
