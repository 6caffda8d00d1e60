// A row as the model stores it, and which other codes a dialect's declared error allows.
#pragma once

#include <algorithm>

#include "kvproof/reference/declared_error.h"
#include "kvproof/reference/model.h"
#include "kvproof/reference/row.h"

namespace kvproof {

// `row` and `dialect` outlive it.
class DeclaredRow {
 public:
  DeclaredRow(const std::uint8_t* row, ElementType type, const Dialect& dialect, Fp8 fp8)
      : row_(row), type_(type), dialect_(dialect), fp8_(fp8), limit_code_(fp8_limit_code(fp8, dialect_limit(dialect, fp8))) {
    model::encode_row(row, type, dialect, fp8, &image);
    const LayoutShape layout = layout_shape(dialect.layout);
    for (int tile = 0; tile < layout.tiles; ++tile) {
      F32 amax = 0;
      for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
        amax = std::max(amax, amax_contribution(value(i), dialect.infinity));
      }
      scales_[tile] = tile_scale(amax, dialect, fp8);
    }
  }

  // Whether the declared error makes `code` of value `i` of the row.
  bool explains(int i, std::uint8_t code) const {
    return explained_by_declared_error(value(i), scales_[i / layout_shape(dialect_.layout).tile], dialect_, fp8_,
                                       limit_code_, code);
  }

  RowImage image{};

 private:
  F32 value(int i) const { return element_to_f32(element_bits(row_, type_, i), type_); }

  const std::uint8_t* row_;
  ElementType type_;
  const Dialect& dialect_;
  Fp8 fp8_;
  std::uint8_t limit_code_;
  TileScale scales_[7]{};
};

}  // namespace kvproof
