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
  static const Property property{"rope_copied",
                                 "rope values are copied bit for bit: NaN payloads, -0 and subnormals too",
                                 "a conversion through float that quiets NaN or flushes subnormals: equal by value, and NaN "
                                 "never equals itself in a test",
                                 [] {
                                   CaseFocus focus;
                                   focus.indices = {2, 3, 1, 1, 0, 0, 0, 1};
                                   focus.most_tokens = 48;
                                   return focus;
                                 }(),
                                 broken,
                                 [](const Subject& subject) { return layout_shape(subject.dialect.layout).rope != 0; }};
  return property;
}

}  // namespace kvproof
