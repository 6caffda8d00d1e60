// Kernels that are right when they are launched for the first time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "planted/right.h"

namespace kvproof::planted {

struct DriftDefect : Right {
  static constexpr Kind kind = Kind::drift;
};

struct DriftsAfter64Launches : DriftDefect {
  static constexpr const char* name = "drifts-after-64-launches";
  static constexpr const char* defect = "from the 65th launch on the stored scale is one unit too high";
  static constexpr const char* reenacts = "result drifting after the k-th launch";
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    TileScale scale = Right::scale(call, amax);
    scale.stored += call.launch >= 64 ? 1U : 0U;
    return scale;
  }
};

struct EveryThirdLaunch : DriftDefect {
  static constexpr const char* name = "every-third-launch";
  static constexpr const char* defect =
      "the first code of each row comes out of every third launch with its last bit flipped";
  KVPROOF_HD static void after(const Call& call, std::int64_t, std::int64_t page, std::int64_t slot) {
    call.pool[Right::data_at(call, page, slot)] ^= call.launch % 3 == 2 ? 1U : 0U;
  }
};

struct PlanOfFirstStride : DriftDefect {
  static constexpr const char* name = "plan-of-first-stride";
  static constexpr const char* defect =
      "plans are kept by layout and page size: the first page stride of each is used for ever";
  static void launched(Call* call) {
    static std::map<std::pair<Layout, std::int64_t>, std::int64_t> strides;
    call->shape.page_stride =
        strides.try_emplace({call->shape.layout, call->shape.page_size}, call->shape.page_stride).first->second;
  }
};

struct TokensOfFirstLaunch : DriftDefect {
  static constexpr const char* name = "tokens-of-first-launch";
  static constexpr const char* defect = "a captured launch keeps its token count: later, larger batches are cut to it";
  static void launched(Call* call) {
    static const std::int64_t captured = call->given > 0 ? call->given : 1;
    call->shape.tokens = call->given < captured ? call->given : captured;
  }
};

}  // namespace kvproof::planted
