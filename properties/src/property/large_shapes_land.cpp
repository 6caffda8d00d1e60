// Pages of thousands of slots and batches of hundreds, thousands and more than 65,535 tokens are stored as small ones are.
#include <algorithm>

#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

constexpr std::int64_t small_page = 256;  // slots: their numbers fit eight bits

// With an error declared there may be no larger batch than usual: then a page must be large.
bool applies(const Subject& subject) {
  const auto& sizes = subject.page_sizes;
  return largest_batch(subject) > usual_batch || sizes.empty() || *std::max_element(sizes.begin(), sizes.end()) > small_page;
}

bool exercises(const Trial& trial) {
  return trial.run->shape.tokens > usual_batch ||
         any_stored(trial, [](std::int64_t, const Location& at) { return at.slot >= small_page; });
}

}  // namespace

const Property& large_shapes_land() {
  static const Property property{
      .name = "large_shapes_land",
      .promise =
          "rows in pages of up to 4,096 slots and of batches from 129 to more than 65,535 tokens land where they belong, "
          "and "
          "nothing else moves",
      .catches =
          "a slot number in eight bits, a grid dimension that ends at 65,535, a kernel of its own for some hundreds of "
          "tokens: "
          "tests use pages of 64 slots and a thousand tokens",
      .focus = {.most_tokens = 24, .fresh_rows = false, .large_shapes = true},
      .exercised_by = "a row stored in slot 256 of a page or further on, or a stored batch of more than 128 tokens",
      .broken = any_wrong_byte,
      .applies = applies,
      .where = "kernels without a declared error, of the indexer, or that take pages of more than 256 slots",
      .exercises = exercises,
  };
  return property;
}

}  // namespace kvproof
