// Kernels that are right as long as each launch is a call and has the GPU to itself. On the host there is no such thing.
#pragma once

#include <cstdint>

#include "planted/right.h"
#include "planted/scratch.h"

namespace kvproof::planted {

struct StreamDefect : Right {
  static constexpr std::uint32_t machines = on_cuda;
};

struct ReplayTakenForDone : StreamDefect {
  static constexpr Kind kind = Kind::drift;
  static constexpr const char* name = "replay-taken-for-done";
  static constexpr const char* defect =
      "each token's turn keeps the number of the launch that has done it, counted on the host: what a graph launches again "
      "has the same number, and is dropped";
  static constexpr const char* reenacts = "done at capture only";
  static constexpr const char* seen_by = "graph_capture_changes_nothing";
  static void launched(Call* call) {
    static std::uint32_t* const scratch = new_scratch();
    call->scratch = scratch;
  }
  KVPROOF_HD static std::int64_t index(const Call& call, std::int64_t token) {
    const auto launch = static_cast<std::uint32_t>(call.launch);
    if (call.scratch != nullptr && token < scratch_words) {
      if (call.scratch[token] == launch) {
        return -1;
      }
      call.scratch[token] = launch;
    }
    return Right::index(call, token);
  }
};

struct OneScratchForAll : StreamDefect {
  static constexpr Kind kind = Kind::race;
  static constexpr std::uint32_t by_chance = on_cuda;
  static constexpr const char* name = "one-scratch-for-all";
  static constexpr const char* defect =
      "the tiles' amax lie in one scratch buffer for a while: of two launches at once the later one's are read by both";
  static constexpr const char* reenacts = "shared scratch reused across tokens";
  static constexpr const char* seen_by = "two_streams_change_nothing";
  static void launched(Call* call) {
    static std::uint32_t* const scratch = new_scratch();
    call->scratch = scratch;
  }
  KVPROOF_HD static F32 amax(const Call& call, std::int64_t token, int tile, F32 largest) {
    const std::int64_t word = token * layout_shape(call.shape.layout).tiles + tile;
    if (call.scratch == nullptr || word >= scratch_words) {
      return largest;
    }
    auto* const shared = const_cast<volatile std::uint32_t*>(call.scratch + word);
    *shared = largest;
#if defined(__CUDA_ARCH__)
    // Time for another launch to come by, as between the two kernels that such a store is made of.
    for (int nap = 0; nap < 8; ++nap) {
      __nanosleep(1000);
    }
#endif
    return *shared;
  }
};

}  // namespace kvproof::planted
