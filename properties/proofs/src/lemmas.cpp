#include "kvproof/proofs/lemmas.h"

#include <fmt/format.h>

namespace kvproof::proofs {
namespace {

void ask_products(Questions& questions) {
  z3::context& z = questions.context();
  const z3::expr a = z.int_const("a");
  const z3::expr b = z.int_const("b");
  const z3::expr c = z.int_const("c");
  const z3::expr d = z.int_const("d");
  const z3::expr_vector nothing(z);
  const Shown shown{{"a", a}, {"b", b}, {"c", c}, {"d", d}};
  questions.follows("d >= 1 and c >= 0 give d*c >= c", nothing, z3::implies(d >= 1 && c >= 0, d * c >= c), shown);
  questions.follows("(b - a)*c = b*c - a*c", nothing, (b - a) * c == b * c - a * c, shown);
  questions.follows("0*c = 0", nothing, z.int_val(0) * c == 0, shown);

  // The order lemma from the first two, whose products are variables by now: dc is (b - a)*c.
  const z3::expr ac = z.int_const("ac");
  const z3::expr bc = z.int_const("bc");
  const z3::expr dc = z.int_const("dc");
  z3::expr_vector given(z);
  given.push_back(z3::implies(b - a >= 1 && c >= 0, dc >= c));
  given.push_back(dc == bc - ac);
  given.push_back(z3::implies(b - a == 0, dc == 0));
  questions.follows("order: a < b and c >= 0 give a*c + c <= b*c, and a = b gives a*c = b*c", given,
                    order_lemma(a, b, c, ac, bc), shown);
}

void ask_quotients(Questions& questions) {
  z3::context& z = questions.context();
  Arithmetic arithmetic(z);
  const Term index = arithmetic.unknown("index");
  const Term size = arithmetic.unknown("page size");
  z3::expr_vector given(z);
  given.push_back(index.value() >= 0 && size.value() >= 1);
  const Term one = arithmetic.quotient("one quotient", index, size);
  const Term other = arithmetic.quotient("another", index, size);
  questions.follows("a quotient q with q*P <= i < q*P + P is the only one", arithmetic, given, one.value() == other.value(),
                    {{"index", index.value()}, {"page size", size.value()}},
                    {{{size.value(), 1}}, {{size.value(), 3}}, {{size.value(), 64}}});
}

// The kernels divide by a shift where the page size is a power of two, and in 32 bits where the index fits. Both are exact
// over machine words.
void ask_words(Questions& questions) {
  z3::context& z = questions.context();
  const z3::expr index = z.bv_const("index", 64);
  const z3::expr_vector nothing(z);
  z3::expr same = z.bool_val(true);
  for (unsigned shift = 0; shift <= 30; ++shift) {
    const z3::expr size = z.bv_val(std::uint64_t{1} << shift, 64);
    const z3::expr quotient = z3::ashr(index, z.bv_val(shift, 64));
    same = same && quotient == index / size;  // signed division, as C++ has it
  }
  questions.follows("i >> k is i / 2^k for every int64 i >= 0 and every k from 0 to 30", nothing,
                    z3::implies(index >= z.bv_val(0, 64), same));
  questions.follows(
      "the low 32 bits of an i from 0 to 2^32 - 1 are i", nothing,
      z3::implies(z3::ule(index, z.bv_val(std::uint64_t{0xFFFFFFFF}, 64)), z3::zext(index.extract(31, 0), 32) == index));
}

}  // namespace

z3::expr order_lemma(const z3::expr& a, const z3::expr& b, const z3::expr& c, const z3::expr& ac, const z3::expr& bc) {
  return z3::implies(c >= 0 && a + 1 <= b, ac + c <= bc) && z3::implies(a == b, ac == bc);
}

void ask_lemmas(Questions& questions) {
  questions.group("lemmas");
  ask_products(questions);
  ask_quotients(questions);
  ask_words(questions);
}

}  // namespace kvproof::proofs
