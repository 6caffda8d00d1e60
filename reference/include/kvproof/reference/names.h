// The one spelling of every choice, shared by case files, the command line and messages.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kvproof/reference/dialect.h"
#include "kvproof/reference/element.h"
#include "kvproof/reference/locate.h"

namespace kvproof {

// Specialised for each enumeration: `values` in the order of the enumerators, which count up from 0.
template <class Enum>
struct Names;

template <>
struct Names<Layout> {
  static constexpr std::string_view what = "layout";
  static constexpr std::array<std::string_view, 2> values{"flashmla", "indexer"};
};
template <>
struct Names<ElementType> {
  static constexpr std::string_view what = "input type";
  static constexpr std::array<std::string_view, 3> values{"bf16", "fp16", "fp32"};
};
template <>
struct Names<IndexType> {
  static constexpr std::string_view what = "index type";
  static constexpr std::array<std::string_view, 2> values{"int32", "int64"};
};
template <>
struct Names<Fp8> {
  static constexpr std::string_view what = "fp8 type";
  static constexpr std::array<std::string_view, 2> values{"e4m3fn", "e4m3fnuz"};
};
template <>
struct Names<Floor> {
  static constexpr std::string_view what = "floor";
  static constexpr std::array<std::string_view, 3> values{"none", "amax", "ratio"};
};
template <>
struct Names<Ratio> {
  static constexpr std::string_view what = "ratio";
  static constexpr std::array<std::string_view, 2> values{"divide", "multiply_reciprocal"};
};
template <>
struct Names<Scale> {
  static constexpr std::string_view what = "scale";
  static constexpr std::array<std::string_view, 3> values{"ue8m0", "fp32", "fp32_power_of_two"};
};
template <>
struct Names<Quantise> {
  static constexpr std::string_view what = "quantise";
  static constexpr std::array<std::string_view, 4> values{"power_of_two", "multiply_reciprocal", "divide",
                                                          "multiply_limit_over_amax"};
};
template <>
struct Names<Pad> {
  static constexpr std::string_view what = "pad";
  static constexpr std::array<std::string_view, 2> values{"keep", "zero"};
};
template <>
struct Names<InvalidIndex> {
  static constexpr std::string_view what = "invalid index policy";
  static constexpr std::array<std::string_view, 7> values{"precondition", "unguarded", "minus_one", "negative",
                                                          "non_positive", "outside",   "trap"};
};
template <>
struct Names<Division> {
  static constexpr std::string_view what = "division";
  static constexpr std::array<std::string_view, 2> values{"floor", "truncate"};
};
template <>
struct Names<Width> {
  static constexpr std::string_view what = "width";
  static constexpr std::array<std::string_view, 3> values{"bits64", "int32", "uint32"};
};
template <>
struct Names<NanCode> {
  static constexpr std::string_view what = "NaN code";
  static constexpr std::array<std::string_view, 5> values{"unstated", "nan", "plus_max", "minus_max", "zero"};
};
template <>
struct Names<Infinity> {
  static constexpr std::string_view what = "infinity";
  static constexpr std::array<std::string_view, 4> values{"unstated", "as_largest_bf16", "negative_inverse",
                                                          "zero_inverse_byte_126"};
};
template <>
struct Names<Region> {
  static constexpr std::string_view what = "region";
  static constexpr std::array<std::string_view, 5> values{"code", "rope", "scale", "pad", "tail"};
};

template <class Enum>
constexpr std::string_view name_of(Enum value) {
  return Names<Enum>::values.at(static_cast<std::size_t>(value));
}

template <class Enum>
constexpr std::optional<Enum> named(std::string_view name) {
  for (std::size_t i = 0; i < Names<Enum>::values.size(); ++i) {
    if (Names<Enum>::values[i] == name) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

// The spellings joined by ", ": for messages that say what was expected.
template <class Enum>
std::string names_of() {
  std::string all;
  for (const std::string_view name : Names<Enum>::values) {
    all += all.empty() ? "" : ", ";
    all += name;
  }
  return all;
}

}  // namespace kvproof
