#include "kvproof/fuzz/row_bank.h"

#include "kvproof/reference/model.h"
#include "kvproof/reference/names.h"

namespace kvproof::fuzz {
namespace {

constexpr std::size_t element_types = Names<ElementType>::values.size();
constexpr std::size_t fp8_types = Names<Fp8>::values.size();

// Classes that the dialect has no answer for give way to one that it has.
ValueClass answered(ValueClass values, const Dialect& dialect) {
  const bool unstated = (values == ValueClass::nans && dialect.nan == NanCode::unstated) ||
                        (values == ValueClass::infinities && dialect.infinity == Infinity::unstated);
  return unstated ? ValueClass::spread : values;
}

}  // namespace

RowBank::RowBank(const Dialect& dialect) : dialect_(dialect), rows_(value_classes * rows * fp8_types * element_types) {}

const BankRow& RowBank::row(ElementType type, Fp8 fp8, ValueClass values, std::uint8_t number) {
  number %= rows;
  const std::size_t of_class = static_cast<std::size_t>(values) * rows + number;
  const std::size_t of_fp8 = of_class * fp8_types + static_cast<std::size_t>(fp8);
  std::unique_ptr<const BankRow>& place = rows_[of_fp8 * element_types + static_cast<std::size_t>(type)];
  if (place == nullptr) {
    place = std::make_unique<const BankRow>(made(type, fp8, values, number));
  }
  return *place;
}

// An even number: all tiles are of the class. An odd one: one of them is, beside others of any class.
BankRow RowBank::made(ElementType type, Fp8 fp8, ValueClass values, std::uint8_t number) const {
  const LayoutShape layout = layout_shape(dialect_.layout);
  Draw draw(static_cast<std::uint64_t>(values) << 8 | number);
  BankRow row;
  row.input.assign(static_cast<std::size_t>(layout.row_values) * static_cast<std::size_t>(element_bytes(type)), 0);
  for (int tile = 0; tile < layout.tiles; ++tile) {
    const bool of_class = number % 2 == 0 || tile == number / 2 % layout.tiles;
    const ValueClass drawn = of_class ? answered(values, dialect_) : draw_class(draw, balanced_values, dialect_);
    draw_tile(draw, drawn, dialect_, fp8, type, row.input.data(), tile * layout.tile, layout.tile);
  }
  draw_rope(draw, dialect_, type, row.input.data(), layout.codes, layout.rope);
  model::encode_row(row.input.data(), type, dialect_, fp8, &row.image);
  return row;
}

}  // namespace kvproof::fuzz
