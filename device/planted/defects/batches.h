// The batch: how many tokens, and where each one's row begins.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

struct BatchDefect : Right {
  static constexpr Kind kind = Kind::batch;
};

struct BlocksBeyond65535 : BatchDefect {
  static constexpr const char* name = "blocks-beyond-65535";
  static constexpr const char* defect =
      "a block a token, in a grid dimension that ends at 65,535: the tokens behind are dropped";
  static constexpr const char* reenacts = "more than 65,535 blocks";
  static void launched(Call* call) { call->shape.tokens = call->given < 65535 ? call->given : 65535; }
};

struct MiddleBatchTail : BatchDefect {
  static constexpr const char* name = "middle-batch-tail";
  static constexpr const char* defect =
      "from 257 to 1,024 tokens another grid is taken, which has no block for the last token";
  static void launched(Call* call) { call->shape.tokens = call->given - (call->given > 256 && call->given <= 1024 ? 1 : 0); }
};

struct LastBlockDropped : BatchDefect {
  static constexpr const char* name = "last-block-dropped";
  static constexpr const char* defect = "blocks of four tokens, counted by a division that rounds down";
  static void launched(Call* call) { call->shape.tokens = call->given / 4 * 4; }
};

struct LastBlockNotMasked : BatchDefect {
  static constexpr const char* name = "last-block-not-masked";
  static constexpr const char* defect = "the last block of four tokens reads and stores whatever follows the batch";
  static constexpr const char* reenacts = "last block not masked";
  static void launched(Call* call) { call->shape.tokens = (call->given + 3) / 4 * 4; }
};

struct PaddedBeyondIndices : BatchDefect {
  static constexpr const char* name = "padded-beyond-indices";
  static constexpr const char* defect = "the launch is for a batch padded to 8 tokens, the slot array is not padded";
  static constexpr const char* reenacts = "slot array shorter than the padded batch";
  static void launched(Call* call) { call->shape.tokens = (call->given + 7) / 8 * 8; }
  KVPROOF_HD static const std::uint8_t* row(const Call& call, std::int64_t token) {
    return Right::row(call, token < call.given ? token : call.given - 1);
  }
};

struct LastBlockBeforeFirst : BatchDefect {
  static constexpr const char* name = "last-block-before-first";
  static constexpr const char* defect =
      "the last block is moved back to end with the batch: before token 0 if there are fewer than 4";
  static void launched(Call* call) { call->shape.tokens = (call->given + 3) / 4 * 4; }
  KVPROOF_HD static std::int64_t token(const Call& call, std::int64_t turn) {
    return turn < call.given / 4 * 4 ? turn : call.given - 4 + turn % 4;
  }
};

struct EmptyGrid : BatchDefect {
  static constexpr const char* name = "empty-grid";
  static constexpr const char* defect = "a batch of no tokens is launched with no blocks, which is an error";
  static constexpr const char* reenacts = "N = 0";
  static bool launches(const Call& call) { return call.given != 0; }
};

struct EmptyBatchWrites : BatchDefect {
  static constexpr const char* name = "empty-batch-writes";
  static constexpr const char* defect =
      "a batch of no tokens turns over the pool's first byte before the count is looked at";
  static constexpr const char* reenacts = "N = 0";
  static void launched(Call* call) { call->shape.tokens = call->given == 0 ? 1 : call->given; }
  KVPROOF_HD static void before(const Call& call, std::int64_t) {
    if (call.given == 0) {
      call.pool[0] ^= 0xff;
    }
  }
  KVPROOF_HD static std::int64_t index(const Call& call, std::int64_t token) {
    return call.given == 0 ? -1 : Right::index(call, token);
  }
};

struct InputStrideIgnored : BatchDefect {
  static constexpr const char* name = "input-stride-ignored";
  static constexpr const char* defect = "input rows are taken to follow each other without a gap";
  static constexpr const char* reenacts = "input stride ignored";
  KVPROOF_HD static const std::uint8_t* row(const Call& call, std::int64_t token) {
    return call.input + token * call.shape.row_bytes();
  }
};

}  // namespace kvproof::planted
