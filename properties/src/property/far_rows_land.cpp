// Rows beyond 2 and 4 GiB land where they belong, and nothing moves where a 32-bit offset would have put them.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

// A GPU fills and judges gigabytes at memory speed; of the host's only what is touched comes to be. Memory of a plug-in's
// own is neither. Where the dialect computes offsets in 32 bits, such a pool is outside its contract.
bool applies(const Subject& subject) {
  return subject.memory != MemoryKind::own && subject.dialect.offset_width == Width::bits64;
}

bool exercises(const Trial& trial) {
  constexpr std::int64_t two_gibibytes = std::int64_t{1} << 31;
  const StoreShape& s = trial.run->shape;
  return any_stored(trial, [&](std::int64_t, const Location& at) {
    return at.page * s.page_stride + scale_offset(s.layout, at.slot, s.page_size) >= two_gibibytes;
  });
}

}  // namespace

const Property& far_rows_land() {
  static const Property property{
      .name = "far_rows_land",
      .promise = "rows beyond 2 GiB and 4 GiB of the pool land where they belong, and nothing else moves",
      .catches =
          "a 32-bit offset that wraps, below the pool or to its front, over other tokens' rows: tests use small pools",
      .focus = {.most_tokens = 16, .fresh_rows = false, .far_pools = true},
      .exercised_by = "a row stored beyond 2 GiB",
      .broken = any_wrong_byte,
      .applies = applies,
      .where = "kernels with 64-bit offsets in host or CUDA memory",
      .exercises = exercises,
  };
  return property;
}

}  // namespace kvproof
