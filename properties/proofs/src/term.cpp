#include "kvproof/proofs/term.h"

#include <fmt/format.h>

#include "kvproof/proofs/lemmas.h"

namespace kvproof::proofs {

Term operator+(const Term& a, const Term& b) { return a.arithmetic_->keep(a.value_ + b.value_); }
Term operator-(const Term& a, const Term& b) { return a.arithmetic_->keep(a.value_ - b.value_); }
Term operator*(const Term& a, const Term& b) { return a.arithmetic_->keep(a.arithmetic_->product(a.value_, b.value_)); }
Term operator+(const Term& a, std::int64_t b) { return a.arithmetic_->keep(a.value_ + a.value_.ctx().int_val(b)); }
Term operator*(const Term& a, std::int64_t b) { return a.arithmetic_->keep(a.value_ * a.value_.ctx().int_val(b)); }

Term Arithmetic::quotient(const std::string& name, const Term& index, const Term& divisor) {
  Term result = unknown(name);
  const z3::expr whole = product(result.value(), divisor.value());
  facts_.push_back(whole <= index.value() && index.value() < whole + divisor.value());
  return result;
}

z3::expr Arithmetic::product(const z3::expr& a, const z3::expr& b) {
  if (a.is_numeral() || b.is_numeral()) {
    return a * b;
  }
  for (const Product& known : products_) {
    if (z3::eq(known.a, a) && z3::eq(known.b, b)) {
      return known.result;
    }
  }
  const z3::expr result = context_.int_const(fmt::format("({})*({})", a.to_string(), b.to_string()).c_str());
  const z3::expr zero = context_.int_val(0);
  facts_.push_back(order_lemma(zero, a, b, zero, result));
  facts_.push_back(order_lemma(a, zero, b, result, zero));
  for (const Product& known : products_) {
    if (z3::eq(known.b, b)) {
      facts_.push_back(order_lemma(known.a, a, b, known.result, result));
      facts_.push_back(order_lemma(a, known.a, b, result, known.result));
    }
    if (z3::eq(known.a, a)) {
      facts_.push_back(order_lemma(known.b, b, a, known.result, result));
      facts_.push_back(order_lemma(b, known.b, a, result, known.result));
    }
  }
  products_.push_back({a, b, result});
  return result;
}

z3::expr_vector Arithmetic::real_products() const {
  z3::expr_vector all(context_);
  for (const Product& product : products_) {
    all.push_back(product.result == product.a * product.b);
  }
  return all;
}

}  // namespace kvproof::proofs
