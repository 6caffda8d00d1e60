// Input rows by class and number, made once and kept: encoding a row costs more than all else that a short call does, and
// what a fuzzer changes is mostly where rows go.
#pragma once

#include <cstdint>
#include <memory>
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

  // Row `number` modulo that, made when it is asked for first. It stays as long as the bank.
  const BankRow& row(ElementType type, Fp8 fp8, ValueClass values, std::uint8_t number);

 private:
  BankRow made(ElementType type, Fp8 fp8, ValueClass values, std::uint8_t number) const;

  Dialect dialect_;
  std::vector<std::unique_ptr<const BankRow>> rows_;  // a place for each class, number and type
};

}  // namespace kvproof::fuzz
