// A dialect: every choice in which honest ports differ, as data. One dialect speaks of one layout.
#pragma once

#include <cstdint>

#include "kvproof/reference/f32.h"
#include "kvproof/reference/fp8.h"
#include "kvproof/reference/layout.h"

namespace kvproof {

// What the floor is a floor of.
enum class Floor : std::uint32_t { none, amax, ratio };

// How the ratio amax / M is computed; M is the fp8 limit.
enum class Ratio : std::uint32_t {
  divide,              // fl(a / M)
  multiply_reciprocal  // fl(a * fl(1 / M))
};

// What is stored as the scale.
enum class Scale : std::uint32_t {
  ue8m0,             // one byte a tile, the ratio rounded up to a power of two
  fp32,              // the ratio as it is
  fp32_power_of_two  // the ratio rounded up to a power of two, as fp32
};

// How an element x becomes a code, before the fp8 rounding.
enum class Quantise : std::uint32_t {
  power_of_two,             // x * 2^-e, exact
  multiply_reciprocal,      // fl(x * fl(1 / s))
  divide,                   // fl(x / s)
  multiply_limit_over_amax  // fl(x * fl(M / a)), a after the floor
};

// The FlashMLA pad byte behind the seven scale bytes.
enum class Pad : std::uint32_t { keep, zero };

// What an index outside [0, capacity) means; capacity = pages * page size.
enum class InvalidIndex : std::uint32_t {
  precondition,  // the caller passes none: outside the contract
  unguarded,     // stored wherever the arithmetic lands: outside the contract, but the address is known
  minus_one,     // -1 is skipped, any other is outside the contract
  negative,      // < 0 is skipped, >= capacity is outside the contract
  non_positive,  // <= 0 is skipped (slot 0 is the dummy), >= capacity is outside the contract
  outside,       // < 0 and >= capacity are skipped
  trap           // the kernel traps: outside the contract
};

// How an index is split into page and slot.
enum class Division : std::uint32_t {
  floor,    // arithmetic shift and mask: -1 is the last slot of page -1
  truncate  // C division: -1 is slot -1 of page 0
};

// The width that an index or a byte offset is computed in.
enum class Width : std::uint32_t { bits64, int32, uint32 };

// The code of a NaN, be it an element or the product of zero and infinity.
enum class NanCode : std::uint32_t {
  unstated,   // the port promises nothing: outside the contract
  nan,        // 0x7F in e4m3fn, 0x80 in e4m3fnuz, whatever the sign
  plus_max,   // the code of +M
  minus_max,  // the code of -M
  zero        // scrubbed: the element counts as +0
};

// What an infinite element does to its tile.
enum class Infinity : std::uint32_t {
  unstated,              // the port promises nothing: outside the contract
  as_largest_bf16,       // counts as the largest finite bf16 for amax and encodes to +-M
  negative_inverse,      // UE8M0: byte 255, and 2^-e becomes -inf; any other rule, fp32: scale +inf, inverse 0
  zero_inverse_byte_126  // UE8M0: byte 126, the inverse scale becomes 0; fp32: scale +inf, inverse 0
};

// Bit sets over ElementType and Fp8 say what a dialect's port takes.
struct Dialect {
  Layout layout = Layout::flashmla;
  Floor floor = Floor::amax;
  F32 floor_value = 0x38D1B717U;  // fl(1e-4)
  Ratio ratio = Ratio::divide;
  Scale scale = Scale::ue8m0;
  Quantise quantise = Quantise::power_of_two;
  int fnuz_limit = 240;  // M for e4m3fnuz, 240 or 224; e4m3fn is always 448
  Pad pad = Pad::keep;
  InvalidIndex invalid = InvalidIndex::outside;
  Division division = Division::floor;
  Width index_width = Width::bits64;
  Width offset_width = Width::bits64;
  NanCode nan = NanCode::nan;
  Infinity infinity = Infinity::as_largest_bf16;
  int reciprocal_ulp = 0;  // declared error of fl(1 / s), in units in the last place; 0 is correctly rounded

  friend bool operator==(const Dialect&, const Dialect&) = default;
};

// M as an integer and as binary32: 448, 240 or 224.
KVPROOF_HD constexpr int dialect_limit(const Dialect& dialect, Fp8 type) {
  return type == Fp8::e4m3fn ? 448 : dialect.fnuz_limit;
}

KVPROOF_HD constexpr F32 dialect_limit_f32(const Dialect& dialect, Fp8 type) {
  const int limit = dialect_limit(dialect, type);
  return limit == 448 ? 0x43E00000U : (limit == 240 ? 0x43700000U : 0x43600000U);
}

}  // namespace kvproof
