// int32 and int64 indices of the same value name the same slots.
#include <algorithm>
#include <cstdint>

#include "../derive.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  Case narrow = with_tokens(c, tokens_where(c, [&](std::int64_t token) {
                              const std::int64_t index = c.indices[static_cast<std::size_t>(token)];
                              return index >= INT32_MIN && index <= INT32_MAX;
                            }));
  narrow.shape.index_type = IndexType::int32;
  Case wide = narrow;
  wide.shape.index_type = IndexType::int64;
  const auto one = rig.run(narrow);
  const auto two = rig.run(wide);
  if (!one || !two) {
    return std::nullopt;
  }
  rig.exercised_if(any_row(*one));
  return pools_differ(rig, *one, *two, "with int32 indices", "with int64");
}

bool applies(const Subject& subject) {
  const auto takes = [&](IndexType type) {
    return std::find(subject.index_types.begin(), subject.index_types.end(), type) != subject.index_types.end();
  };
  return takes(IndexType::int32) && takes(IndexType::int64);
}

}  // namespace

const Property& index_types_agree() {
  static const Property property{
      .name = "index_types_agree",
      .promise = "int32 and int64 indices of the same values leave the same bytes",
      .catches =
          "int64 read as pairs of int32, -1 zero-extended to 2^32-1: each type's own test passes, with its own expectation",
      .focus = {.indices = {1, 3, 2, 3, 2, 2, 3, 1}, .most_tokens = 48, .fresh_rows = false},
      .exercised_by = "a row that is stored with either index type",
      .applies = applies,
      .where = "kernels that take both index types",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
