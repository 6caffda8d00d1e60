// Races, as they end: the loser's bytes are chosen, so that a run repeats.
#pragma once

#include "planted/parts.h"

namespace kvproof::planted {

struct RaceDefect : Right {
  static constexpr Kind kind = Kind::race;
};

struct RopeOfTwoOwners : RaceDefect {
  static constexpr const char* name = "rope-of-two-owners";
  static constexpr const char* defect =
      "the owner of the last tile stores 16 bytes too many, and now and then comes after the rope's";
  static constexpr const char* reenacts = "rope written by two owners";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static void after(const Call& call, std::int64_t token, std::int64_t page, std::int64_t slot) {
    std::uint8_t* rope = call.pool + Right::data_at(call, page, slot) + 448;
    for (int i = 0; token % 8 == 7 && i < 16; ++i) {
      rope[i] = rope[i - 16];
    }
  }
};

struct TornRow : RaceDefect {
  static constexpr const char* name = "torn-row";
  static constexpr const char* defect =
      "of two rows for one slot the codes are those of the last and the scales those of the first";
  static constexpr const char* reenacts = "torn duplicates";
  static constexpr std::uint32_t by_chance = on_cuda;
  static constexpr int duplicates = KVPROOF_DUPLICATES_ROW;
  KVPROOF_HD static bool writes_scale(const Call& call, std::int64_t token, int) { return !claimed_before(call, token); }
};

struct TornTile : RaceDefect {
  static constexpr const char* name = "torn-tile";
  static constexpr const char* defect = "of two rows for one slot every other 16 bytes are those of the first";
  static constexpr const char* reenacts = "torn duplicates";
  static constexpr std::uint32_t by_chance = on_cuda;
  static constexpr int duplicates = KVPROOF_DUPLICATES_UNIT;
  KVPROOF_HD static bool writes_data(const Call& call, std::int64_t token, int i) {
    return i % 32 < 16 || !claimed_before(call, token);
  }
};

struct FirstDuplicateWins : RaceDefect {
  static constexpr const char* name = "first-duplicate-wins";
  static constexpr const char* defect = "tokens are stored from the last to the first, where the last was promised to stay";
  static constexpr std::uint32_t machines = on_host;
  KVPROOF_HD static std::int64_t token(const Call& call, std::int64_t turn) { return call.shape.tokens - 1 - turn; }
};

struct SharedScratch : RaceDefect {
  static constexpr const char* name = "shared-scratch";
  static constexpr const char* defect = "the eighth token of a block finds its neighbour's amax in the scratch they share";
  static constexpr const char* reenacts = "shared scratch reused across tokens";
  KVPROOF_HD static F32 amax(const Call& call, std::int64_t token, int tile, F32 largest) {
    const std::uint8_t* neighbour = Right::row(call, token - (token % 8 == 7 ? 1 : 0));
    for (int i = Right::first_reduced(call, tile); i < Right::end_reduced(call, tile); ++i) {
      const F32 magnitude = Right::magnitude(call, Right::element(call, neighbour, i));
      largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
  }
};

}  // namespace kvproof::planted
