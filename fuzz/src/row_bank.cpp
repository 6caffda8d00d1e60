#include "kvproof/fuzz/row_bank.h"

#include "kvproof/reference/model.h"

namespace kvproof::fuzz {
namespace {

// Classes that the dialect has no answer for give way to one that it has.
ValueClass answered(ValueClass values, const Dialect& dialect) {
  const bool unstated = (values == ValueClass::nans && dialect.nan == NanCode::unstated) ||
                        (values == ValueClass::infinities && dialect.infinity == Infinity::unstated);
  return unstated ? ValueClass::spread : values;
}

}  // namespace

RowBank::RowBank(const Dialect& dialect) : dialect_(dialect), entries_(places) {}

const BankRow& RowBank::row(ElementType type, Fp8 fp8, ValueClass values, std::uint8_t number) {
  number %= rows;
  const std::uint64_t key =
      1 + (((static_cast<std::uint64_t>(values) * 256 + number) * 2 + static_cast<std::uint64_t>(fp8)) * 3 +
           static_cast<std::uint64_t>(type));
  Entry& entry = entries_[(key * 0x9E3779B97F4A7C15ULL >> 40) % places];
  if (entry.key != key) {
    make(type, fp8, values, number, entry.row);
    entry.key = key;
  }
  return entry.row;
}

// An even number: all tiles are of the class. An odd one: one of them is, beside others of any class.
void RowBank::make(ElementType type, Fp8 fp8, ValueClass values, std::uint8_t number, BankRow& row) const {
  const LayoutShape layout = layout_shape(dialect_.layout);
  Draw draw(static_cast<std::uint64_t>(values) << 8 | number);
  row.input.assign(static_cast<std::size_t>(layout.row_values) * static_cast<std::size_t>(element_bytes(type)), 0);
  for (int tile = 0; tile < layout.tiles; ++tile) {
    const bool of_class = number % 2 == 0 || tile == number / 2 % layout.tiles;
    const ValueClass drawn = of_class ? answered(values, dialect_) : draw_class(draw, balanced_values, dialect_);
    draw_tile(draw, drawn, dialect_, fp8, type, row.input.data(), tile * layout.tile, layout.tile);
  }
  draw_rope(draw, dialect_, type, row.input.data(), layout.codes, layout.rope);
  model::encode_row(row.input.data(), type, dialect_, fp8, &row.image);
}

}  // namespace kvproof::fuzz
