// A tile of -x has the scale of x, and its codes with the sign turned.
#include <fmt/format.h>

#include "../derive.h"
#include "finite_values.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

// e4m3fnuz has one zero, and its only NaN sits where the other would be.
std::uint8_t negated(std::uint8_t code, Fp8 type) {
  return type == Fp8::e4m3fnuz && (code & 0x7F) == 0 ? code : static_cast<std::uint8_t>(code ^ 0x80);
}

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  const LayoutShape layout = layout_shape(c.shape.layout);
  const std::uint32_t sign = c.shape.input_type == ElementType::fp32 ? 0x80000000U : 0x8000U;
  Case turned = c;
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    for (int i = 0; i < layout.codes; ++i) {
      set_element(turned, token, i, element_of(c, token, i) ^ sign);
    }
  }
  const auto plus = rig.run(c);
  const auto minus = rig.run(turned);
  if (!plus || !minus) {
    return std::nullopt;
  }
  Differences differences;
  for_each_row(*plus, *minus, [&](std::int64_t token, std::int64_t slot) {
    for (int tile = 0; tile < layout.tiles; ++tile) {
      if (!tile_can_divide(c, token, tile, rig.subject().dialect)) {
        continue;
      }
      rig.compared(layout.tile + layout.bytes_per_scale, layout.tile);
      rig.exercised_if(true);
      for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
        const std::uint8_t one = plus->data(slot)[i];
        const std::uint8_t two = minus->data(slot)[i];
        if (two != negated(one, c.shape.fp8)) {
          differences.add(fmt::format("{}: 0x{:02x}, and 0x{:02x} of -x, expected 0x{:02x}",
                                      place_in_pool(c.shape, plus->data_at(slot) + i), one, two, negated(one, c.shape.fp8)));
        }
      }
      for (int i = tile * layout.bytes_per_scale; i < (tile + 1) * layout.bytes_per_scale; ++i) {
        const std::uint8_t one = plus->scales(slot)[i];
        const std::uint8_t two = minus->scales(slot)[i];
        if (one != two) {
          differences.add(
              fmt::format("{}: 0x{:02x}, and 0x{:02x} of -x", place_in_pool(c.shape, plus->scales_at(slot) + i), one, two));
        }
      }
    }
  });
  return differences.breach("bytes of -x are not those of x with the sign turned");
}

}  // namespace

const Property& sign_symmetry() {
  static const Property property{
      .name = "sign_symmetry",
      .promise = "a finite tile of -x has the scale of x and its codes with the sign turned; e4m3fnuz has no -0",
      .catches =
          "amax of signed values, rounding towards one side, a clamp at one end: random values hide a wrong side behind the "
          "other",
      .focus = {.values = finite_values, .indices = {2, 3, 1, 1, 0, 0, 0, 0}, .most_tokens = 24},
      .exercised_by = "a finite tile that is stored with either sign",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
