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
  rig.exercised_if(rows_on_both_sides(*one, half));
  return pools_differ(rig, *one, *two, "on one stream", "on two at once");
}

bool applies(const Subject& subject) { return subject.memory == MemoryKind::cuda; }

}  // namespace

const Property& two_streams_change_nothing() {
  static const Property property{
      .name = "two_streams_change_nothing",
      .promise = "two halves of a batch, stored on two streams at once, leave the bytes of the batch",
      .catches =
          "one scratch buffer for all launches, a launch on the default stream: with overlapped prefill and decode, rows of "
          "one show up in the other",
      .focus = {.indices = {2, 4, 1, 3, 0, 0, 1, 0}, .most_tokens = 96, .fresh_rows = false},
      .exercised_by = "a stored row on each stream",
      .applies = applies,
      .where = "CUDA kernels",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
