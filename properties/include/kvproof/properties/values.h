// Tiles of input values, drawn as bit patterns in classes where kernels go wrong.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kvproof/properties/draw.h"
#include "kvproof/reference/dialect.h"
#include "kvproof/reference/element.h"

namespace kvproof {

enum class ValueClass : std::uint32_t {
  zeros,             // amax 0: floors, 0 / 0
  signed_zeros,      // -0 keeps its sign in e4m3fn and has none in e4m3fnuz
  subnormals,        // of the input type: flush to zero
  binade_edge,       // amax = M / 256 * 2^k and both neighbours: a scale one binade off
  ties,              // halfway between two codes after scaling, and both neighbours: rounding
  half_subnormals,   // around odd multiples of half the smallest code: rounding to subnormal codes and to zero
  floor_neighbours,  // amax on and beside the floor
  extremes,          // largest and smallest exponents together
  spread,            // one tile over a few binades, as real keys are
  any_finite,        // all finite patterns alike
  nans,              // NaN of either sign and any payload among finite values
  infinities         // infinities among finite values
};

inline constexpr std::size_t value_classes = 12;

std::string_view name_of(ValueClass value_class);

// Weights over the classes, by enumerator. The non-finite ones are drawn only where the dialect states what they give.
using ValueWeights = std::array<int, value_classes>;

inline constexpr ValueWeights balanced_values{2, 1, 2, 4, 4, 3, 3, 2, 4, 3, 1, 1};

// A pattern of `type` near the value of `x`: rounded for narrower types, finite for finite `x`.
std::uint32_t pattern_near(F32 x, ElementType type);

// Writes `count` values of one tile at `row + first * element_bytes(type)`.
void draw_tile(Draw& draw, ValueClass value_class, const Dialect& dialect, Fp8 fp8, ElementType type, std::uint8_t* row,
               int first, int count);

// Writes rope values: any pattern at all for bf16 (they are copied bit for bit); wider types have NaN only where the dialect
// states what a NaN gives.
void draw_rope(Draw& draw, const Dialect& dialect, ElementType type, std::uint8_t* row, int first, int count);

// Draws a class the dialect has an answer for.
ValueClass draw_class(Draw& draw, const ValueWeights& weights, const Dialect& dialect);

}  // namespace kvproof
