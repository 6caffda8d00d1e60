// A call that is captured into a CUDA graph stores, at each launch of the graph, what it stores by itself.
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

std::optional<Breach> over_runs(Rig& rig) {
  const auto launched = rig.run(rig.given());
  if (!launched) {
    return std::nullopt;
  }
  Launch graph;
  graph.mode = LaunchMode::captured;
  const auto captured = rig.run(rig.given(), graph);
  if (!captured) {
    return std::nullopt;
  }
  rig.exercised_if(any_row(*launched));
  return pools_differ(rig, *launched, *captured, "when launched", "in the second launch of a graph");
}

bool applies(const Subject& subject) { return subject.memory == MemoryKind::cuda; }

}  // namespace

const Property& graph_capture_changes_nothing() {
  static const Property property{
      .name = "graph_capture_changes_nothing",
      .promise = "a call captured into a CUDA graph stores at every launch what it stores by itself",
      .catches =
          "work on another stream or on the host that is done at capture only, a counter that is reset once: decoding runs "
          "from graphs, tests do not",
      .focus = {.indices = {1, 2, 1, 2, 4, 3, 1, 0}, .most_tokens = 48, .fresh_rows = false},
      .exercised_by = "a row that is stored, by itself and from a graph",
      .applies = applies,
      .where = "CUDA kernels",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
