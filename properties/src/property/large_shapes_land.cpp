// Pages of thousands of slots and batches of more than 65,535 tokens are stored as small ones are.
#include "kvproof/properties/property.h"

namespace kvproof {

const Property& large_shapes_land() {
  static const Property property{
      .name = "large_shapes_land",
      .promise =
          "rows in pages of up to 4,096 slots and of batches of more than 65,535 tokens land where they belong, and nothing "
          "else moves",
      .catches =
          "a slot number in eight bits, a grid dimension that ends at 65,535: tests use pages of 64 slots and a thousand "
          "tokens",
      .focus = {.most_tokens = 24, .fresh_rows = false, .large_shapes = true},
      .broken = any_wrong_byte,
  };
  return property;
}

}  // namespace kvproof
