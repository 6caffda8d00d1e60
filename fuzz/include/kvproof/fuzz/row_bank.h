// Input rows by class and number, made once and kept: encoding a row costs more than all else that a short call does, and
// what a fuzzer changes is mostly where rows go.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kvproof/properties/values.h"
#include "kvproof/reference/row.h"

namespace kvproof::fuzz {

struct BankRow {
  std::vector<std::uint8_t> input;  // packed
  RowImage image;                   // what the model stores of it
};

// Rows of one dialect.
class RowBank {
 public:
  explicit RowBank(const Dialect& dialect);

  // Rows of a class and type. More would be encoded anew again and again; what values do is for proofs to enumerate.
  static constexpr std::uint8_t rows = 32;

  // Row `number` modulo that. It stays until the bank is asked again.
  const BankRow& row(ElementType type, Fp8 fp8, ValueClass values, std::uint8_t number);

 private:
  struct Entry {
    std::uint64_t key = 0;  // 0: empty
    BankRow row;
  };
  static constexpr std::size_t places = 4096;

  void make(ElementType type, Fp8 fp8, ValueClass values, std::uint8_t number, BankRow& row) const;

  Dialect dialect_;
  std::vector<Entry> entries_;
};

}  // namespace kvproof::fuzz
