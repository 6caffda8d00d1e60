// What is read back lies within half a unit of the code's last place of what was stored.
#include <fmt/format.h>

#include <cmath>

#include "../derive.h"
#include "finite_values.h"
#include "kvproof/properties/property.h"
#include "kvproof/reference/load.h"

namespace kvproof {
namespace {

double as_double(F32 x) {
  const F32 magnitude = f32_magnitude(x);
  double value = HUGE_VAL;
  if (magnitude == 0) {
    value = 0;
  } else if (f32_is_finite(x)) {
    const F32Parts parts = f32_split(magnitude);
    value = std::ldexp(static_cast<double>(parts.significand), parts.exponent - 23);
  }
  return f32_sign(x) != 0 ? -value : value;
}

// The unit of a code's last place, as an exponent of 2.
int last_place(std::uint8_t code, Fp8 type) {
  const int field = (code >> 3) & 0xF;
  return fp8_smallest_exponent(type) - 3 + (field == 0 ? 0 : field - 1);
}

std::optional<Breach> over_runs(Rig& rig) {
  const Case& c = rig.given();
  const LayoutShape layout = layout_shape(c.shape.layout);
  const auto stored = rig.run(c);
  if (!stored) {
    return std::nullopt;
  }
  // A power of two leaves no other error: all of this is exact in double. Else the scale, its inverse and the product are
  // each rounded to fp32. Either way a quotient may be off by what the kernel declares, and a unit is up to 2^-23 of it.
  const bool exact = rig.subject().dialect.scale != Scale::fp32;
  const double slack = std::ldexp((exact ? 0.0 : 2.0) + rig.subject().dialect.reciprocal_ulp, -23);
  Differences differences;
  for_each_row(*stored, *stored, [&](std::int64_t token, std::int64_t slot) {
    for (int tile = 0; tile < layout.tiles; ++tile) {
      if (!tile_can_divide(c, token, tile, rig.subject().dialect)) {
        continue;
      }
      rig.compared(layout.tile + layout.bytes_per_scale, layout.tile);
      rig.exercised_if(true);
      const F32 scale = load_scale(stored->bytes.data(), c.shape, slot / c.shape.page_size, slot % c.shape.page_size, tile);
      for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
        const std::uint8_t code = stored->data(slot)[i];
        const double x = as_double(value_of(c, token, i));
        const double read = as_double(fp8_to_f32(code, c.shape.fp8)) * as_double(scale);
        const double half = std::ldexp(as_double(scale), last_place(code, c.shape.fp8) - 1);
        const double error = std::fabs(read - x);
        const bool within = f32_is_finite(scale) && !fp8_is_nan(code, c.shape.fp8) && error <= half + slack * std::fabs(x);
        if (!within) {
          differences.add(fmt::format("{}: {} is stored as 0x{:02x} and read as {}, {} from it, expected at most {}",
                                      place_in_pool(c.shape, stored->data_at(slot) + i), x, code, read, error, half));
        }
      }
    }
  });
  return differences.breach("codes are further from their input than half a unit");
}

bool applies(const Subject& subject) { return divides_by_stored_scale(subject.dialect); }

}  // namespace

const Property& error_within_half_a_unit() {
  static const Property property{
      .name = "error_within_half_a_unit",
      .promise =
          "code times scale lies within half a unit of the code's last place of a finite input; with fp32 scales, and the "
          "rounding of the scale and its inverse, and with what the dialect declares of its division",
      .catches =
          "a scale a binade low that saturates, a double rounding, flushed subnormals: inside a relative tolerance of a "
          "tenth",
      .focus = {.values = finite_values, .indices = {2, 3, 1, 1, 0, 0, 0, 0}, .most_tokens = 40},
      .exercised_by = "a finite tile that is stored",
      .applies = applies,
      .where = "dialects that divide by the scale they store",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
