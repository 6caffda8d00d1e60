// Reads past what was given.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

struct OverRead : Right {
  static constexpr Kind kind = Kind::batch;
};

struct IndexOverReader : OverRead {
  static constexpr const char* name = "index-over-reader";
  static constexpr const char* defect = "the index after the last is read";
  static constexpr const char* reenacts = "index read past N";
  KVPROOF_HD static void before(const Call& call, std::int64_t token) {
    volatile std::uint8_t read = call.indices[(token + 1) * index_bytes(call.shape.index_type)];
    (void)read;
  }
};

struct InputOverReader : OverRead {
  static constexpr const char* name = "input-over-reader";
  static constexpr const char* defect = "sixteen bytes after the last row are read";
  KVPROOF_HD static void before(const Call& call, std::int64_t token) {
    const std::uint8_t* end = Right::row(call, token) + call.shape.row_bytes();
    for (int i = 0; i < 16; ++i) {
      volatile std::uint8_t read = end[i];
      (void)read;
    }
  }
};

}  // namespace kvproof::planted
