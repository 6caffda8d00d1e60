// Two halves of a batch on two streams at once leave the bytes of the batch.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

constexpr int rounds = 3;  // of both halves, so that they overlap in more than one way

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  const auto one = rig.run(c);
  if (!one) {
    return std::nullopt;
  }
  Launch launch;
  launch.mode = LaunchMode::two_streams;
  const std::int64_t half = c.shape.tokens / 2;
  for (int round = 0; round < rounds; ++round) {
    launch.steps.emplace_back(StoreTokens{0, half});
    launch.steps.emplace_back(StoreTokens{half, c.shape.tokens - half});
  }
  const auto two = rig.run(c, launch);
  if (!two) {
    return std::nullopt;
  }
  return pools_differ(rig, *one, *two, "on one stream", "on two at once");
}

bool applies(const Subject& subject) { return subject.memory == MemoryKind::cuda; }

}  // namespace

const Property& two_streams_change_nothing() {
  static const Property property{
      "two_streams_change_nothing",
      "two halves of a batch, stored on two streams at once, leave the bytes of the batch",
      "one scratch buffer for all launches, a launch on the default stream: with overlapped prefill and decode, rows of one "
      "show up in the other",
      [] {
        CaseFocus focus;
        focus.indices = {2, 4, 1, 3, 0, 0, 1, 0};
        focus.most_tokens = 96;
        focus.fresh_rows = false;
        return focus;
      }(),
      nullptr,
      applies,
      "CUDA kernels",
      over_runs};
  return property;
}

}  // namespace kvproof
