// Rows beyond 2 and 4 GiB land where they belong, and nothing moves where a 32-bit offset would have put them.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

// Every wrong byte counts: a wrapped row is missing here and stray there.
std::optional<Breach> broken(const Trial& trial) {
  return breach_of(wrong_of(trial, [](const WrongByte&) { return true; }), trial);
}

// A GPU fills and judges gigabytes at memory speed; of the host's only what is touched comes to be. Memory of a plug-in's
// own is neither. Where the dialect computes offsets in 32 bits, such a pool is outside its contract.
bool applies(const Subject& subject) {
  return subject.memory != MemoryKind::own && subject.dialect.offset_width == Width::bits64;
}

}  // namespace

const Property& far_rows_land() {
  static const Property property{
      "far_rows_land",
      "rows beyond 2 GiB and 4 GiB of the pool land where they belong, and nothing else moves",
      "a 32-bit offset that wraps, below the pool or to its front, over other tokens' rows: tests use small pools",
      [] {
        CaseFocus focus;
        focus.far_pools = true;
        focus.most_tokens = 16;
        focus.fresh_rows = false;
        return focus;
      }(),
      broken,
      applies,
      "kernels with 64-bit offsets in host or CUDA memory"};
  return property;
}

}  // namespace kvproof
