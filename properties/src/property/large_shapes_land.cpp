// Pages of thousands of slots and batches of more than 65,535 tokens are stored as small ones are.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> broken(const Trial& trial) {
  return breach_of(wrong_of(trial, [](const WrongByte&) { return true; }), trial);
}

}  // namespace

const Property& large_shapes_land() {
  static const Property property{
      "large_shapes_land",
      "rows in pages of up to 4,096 slots and of batches of more than 65,535 tokens land where they belong, and nothing "
      "else moves",
      "a slot number in eight bits, a grid dimension that ends at 65,535: tests use pages of 64 slots and a thousand tokens",
      [] {
        CaseFocus focus;
        focus.large_shapes = true;
        focus.most_tokens = 24;
        focus.fresh_rows = false;
        return focus;
      }(),
      broken};
  return property;
}

}  // namespace kvproof
