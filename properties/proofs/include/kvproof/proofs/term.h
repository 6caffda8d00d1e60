// A number of the proof: a Z3 integer with the operators that the kernels' address arithmetic uses. Every operation leaves
// its result behind, so that "no intermediate overflows" is asked of the arithmetic as it is written.
//
// Integers stand for int64: as long as every intermediate lies in [-2^63, 2^63), which is itself proved, the two agree.
//
// A product of two unknowns is a variable of its own. What is known of it are instances of the lemmas (lemmas.h), each of
// which holds for all integers; asked with the products as such, the solver does not come to an end.
#pragma once

#include <z3++.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kvproof::proofs {

class Arithmetic;

class Term {
 public:
  Term(Arithmetic& arithmetic, z3::expr value) : arithmetic_(&arithmetic), value_(std::move(value)) {}

  const z3::expr& value() const { return value_; }

  friend Term operator+(const Term& a, const Term& b);
  friend Term operator-(const Term& a, const Term& b);
  friend Term operator*(const Term& a, const Term& b);
  friend Term operator+(const Term& a, std::int64_t b);
  friend Term operator*(const Term& a, std::int64_t b);

 private:
  Arithmetic* arithmetic_;
  z3::expr value_;
};

class Arithmetic {
 public:
  explicit Arithmetic(z3::context& context) : context_(context), facts_(context) {}

  z3::context& context() { return context_; }

  Term unknown(const std::string& name) { return {*this, context_.int_const(name.c_str())}; }

  // The quotient that C++ gives for index >= 0 and divisor >= 1: quotient * divisor <= index < (quotient + 1) * divisor.
  Term quotient(const std::string& name, const Term& index, const Term& divisor);

  // a * b, with the lemmas' instances for it and every other product by `b` so far.
  z3::expr product(const z3::expr& a, const z3::expr& b);

  Term keep(const z3::expr& result) {
    intermediates_.push_back(result);
    return {*this, result};
  }

  // Instances of lemmas, and quotients' definitions.
  const z3::expr_vector& facts() const { return facts_; }
  const std::vector<z3::expr>& intermediates() const { return intermediates_; }

  // The products as they are: variable == a * b.
  z3::expr_vector real_products() const;

 private:
  struct Product {
    z3::expr a, b, result;
  };

  z3::context& context_;
  z3::expr_vector facts_;
  std::vector<z3::expr> intermediates_;
  std::vector<Product> products_;
};

}  // namespace kvproof::proofs
