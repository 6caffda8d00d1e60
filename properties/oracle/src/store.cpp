#include "kvproof/oracle/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kvproof/device/error.h"
#include "kvproof/oracle/elements.h"
#include "kvproof/oracle/nearest.h"
#include "kvproof/oracle/place.h"
#include "kvproof/oracle/tile.h"

namespace kvproof {
namespace {

using Bytes = std::vector<std::uint8_t>;

// A row's units, each with its place in the page.
struct RowUnit {
  oracle::Span span;
  Bytes bytes;
};

class Store {
 public:
  Store(const Case& run, const Dialect& dialect)
      : run_(run),
        shape_(run.shape),
        dialect_(dialect),
        limit_(oracle::limit_of(dialect, run.shape.fp8)),
        nearest_(run.shape.fp8, limit_) {
    const bool flashmla = shape_.layout == Layout::flashmla;
    const std::int64_t row_bytes = (flashmla ? 512 : 128) * (shape_.input_type == ElementType::fp32 ? 4 : 2);
    const std::int64_t needed = shape_.tokens == 0 ? 0 : (shape_.tokens - 1) * shape_.row_stride + row_bytes;
    if (shape_.layout != dialect.layout) {
      throw BadInput("the case's layout is not its dialect's");
    }
    if (static_cast<std::int64_t>(run.input.size()) != needed ||
        static_cast<std::int64_t>(run.indices.size()) != shape_.tokens) {
      throw BadInput(fmt::format("{} tokens: {} input bytes and {} indices, expected {} and {}", shape_.tokens,
                                 run.input.size(), run.indices.size(), needed, shape_.tokens));
    }
  }

  std::vector<OracleUnit> units() {
    for (std::int64_t token = 0; token < shape_.tokens; ++token) {
      try {
        store(token);
      } catch (const BadInput& error) {
        throw BadInput(fmt::format("token {}: {}", token, error.what()));
      }
    }
    std::vector<OracleUnit> all;
    for (auto& [offset, unit] : by_offset_) {
      const bool overlaps =
          !all.empty() && all.back().offset + static_cast<std::int64_t>(all.back().contenders.front().size()) > offset;
      if (overlaps) {
        throw BadInput(
            fmt::format("offset {}: two units overlap, as wrapped offsets or a short page stride make them", offset));
      }
      all.push_back(std::move(unit));
    }
    return all;
  }

 private:
  void store(std::int64_t token) {
    const auto at = oracle::slot_of(run_.indices[static_cast<std::size_t>(token)], shape_, dialect_);
    if (!at) {
      return;
    }
    const std::uint8_t* row = run_.input.data() + token * shape_.row_stride;
    for (const RowUnit& unit :
         shape_.layout == Layout::flashmla ? flashmla_row(row, at->slot) : indexer_row(row, at->slot)) {
      for (const oracle::Piece& piece : oracle::pieces(unit.span, at->page, shape_, dialect_.offset_width)) {
        add(piece.offset, Bytes(unit.bytes.begin() + piece.first, unit.bytes.begin() + piece.first + piece.count));
      }
    }
  }

  void add(std::int64_t offset, Bytes bytes) {
    OracleUnit& unit = by_offset_[offset];
    unit.offset = offset;
    if (!unit.contenders.empty() && unit.contenders.front().size() != bytes.size()) {
      throw BadInput(fmt::format("offset {}: two units overlap", offset));
    }
    unit.contenders.push_back(std::move(bytes));
  }

  std::vector<RowUnit> flashmla_row(const std::uint8_t* row, std::int64_t slot) const {
    std::vector<RowUnit> units;
    const std::int64_t scales = shape_.page_size * 576 + slot * 8;
    for (int tile = 0; tile < 7; ++tile) {
      const auto [codes, scale] = tile_of(row, 64 * tile, 64);
      units.push_back({{slot * 576 + 64 * tile, 64, 1}, codes});
      units.push_back({{scales + tile, 1, 1}, {static_cast<std::uint8_t>(scale)}});
    }
    Bytes rope;
    for (int i = 448; i < 512; ++i) {
      const std::uint16_t bits = rope_value(row, i);
      rope.push_back(static_cast<std::uint8_t>(bits % 256));
      rope.push_back(static_cast<std::uint8_t>(bits / 256));
    }
    units.push_back({{slot * 576 + 448, 128, 2}, rope});
    if (dialect_.pad == Pad::zero) {
      units.push_back({{scales + 7, 1, 1}, {0}});
    }
    return units;
  }

  std::vector<RowUnit> indexer_row(const std::uint8_t* row, std::int64_t slot) const {
    const auto [codes, scale] = tile_of(row, 0, 128);
    Bytes bytes;
    for (std::uint32_t rest = scale, byte = 0; byte < 4; ++byte, rest /= 256) {
      bytes.push_back(static_cast<std::uint8_t>(rest % 256));
    }
    return {{{slot * 128, 128, 1}, codes}, {{shape_.page_size * 128 + slot * 4, 4, 4}, bytes}};
  }

  struct EncodedTile {
    Bytes codes;
    std::uint32_t scale;
  };

  EncodedTile tile_of(const std::uint8_t* row, int first, int count) const {
    float amax = 0;
    for (int i = first; i < first + count; ++i) {
      amax = std::max(amax, oracle::amax_share(oracle::element_value(row, shape_.input_type, i), dialect_));
    }
    const oracle::Tile tile(amax, dialect_, nearest_, limit_);
    EncodedTile encoded{{}, tile.stored_scale()};
    for (int i = first; i < first + count; ++i) {
      encoded.codes.push_back(tile.code(oracle::element_value(row, shape_.input_type, i)));
    }
    return encoded;
  }

  std::uint16_t rope_value(const std::uint8_t* row, int i) const {
    if (shape_.input_type == ElementType::bf16) {
      return static_cast<std::uint16_t>(row[2 * i] + 256 * row[2 * i + 1]);
    }
    const float value = oracle::element_value(row, shape_.input_type, i);
    if (!std::isnan(value)) {
      return oracle::to_bf16(value);
    }
    if (dialect_.nan == NanCode::unstated) {
      throw BadInput("a NaN rope value that is no bf16: the dialect states nothing about NaN");
    }
    if (shape_.input_type == ElementType::fp32) {
      return oracle::to_bf16(value);
    }
    const int bits = row[2 * i] + 256 * row[2 * i + 1];  // fp16: sign, then the upper seven fraction bits, made quiet
    return static_cast<std::uint16_t>((bits & 0x8000) | 0x7F80 | ((bits & 0x3FF) >> 3) | 0x40);
  }

  const Case& run_;
  const StoreShape& shape_;
  const Dialect& dialect_;
  int limit_;
  oracle::NearestCode nearest_;
  std::map<std::int64_t, OracleUnit> by_offset_;
};

}  // namespace

std::vector<OracleUnit> oracle_store(const Case& run, const Dialect& dialect) { return Store(run, dialect).units(); }

}  // namespace kvproof
