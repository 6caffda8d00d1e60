#include "kvproof/proofs/ask.h"

#include <chrono>

namespace kvproof::proofs {
namespace {

constexpr unsigned milliseconds = 10'000;  // a question that takes longer is undecided

z3::solver solver_of(z3::context& context, const z3::expr_vector& given) {
  z3::solver solver(context);
  solver.set("timeout", milliseconds);
  for (unsigned i = 0; i < given.size(); ++i) {
    solver.add(given[static_cast<int>(i)]);
  }
  return solver;
}

Values values_of(const z3::model& model, const Shown& shown) {
  Values values;
  for (const auto& [name, what] : shown) {
    const z3::expr value = model.eval(what, true);
    std::int64_t number = 0;
    if (value.is_numeral_i64(number)) {
      values.emplace_back(name, number);
    }
  }
  return values;
}

z3::expr with(const z3::expr& what, const Fixed& fixed) {
  z3::expr_vector from(what.ctx());
  z3::expr_vector to(what.ctx());
  for (const auto& [unknown, value] : fixed) {
    from.push_back(unknown);
    to.push_back(what.ctx().int_val(value));
  }
  z3::expr copy = what;
  return copy.substitute(from, to);
}

// Looks for a model of `given` in which every product is one, place after place.
bool find_real(const Arithmetic& arithmetic, const z3::expr_vector& given, const Shown& shown,
               const std::vector<Fixed>& places, Values* values) {
  z3::context& context = given.ctx();
  const z3::expr_vector products = arithmetic.real_products();
  for (const Fixed& place : places) {
    z3::expr_vector there(context);
    for (const z3::expr_vector* all : {&given, &arithmetic.facts(), &products}) {
      for (unsigned i = 0; i < all->size(); ++i) {
        there.push_back(with((*all)[static_cast<int>(i)], place));
      }
    }
    z3::solver solver = solver_of(context, there);
    if (solver.check() == z3::sat) {
      Shown here;
      for (const auto& [name, what] : shown) {
        here.emplace_back(name, with(what, place));
      }
      *values = values_of(solver.get_model(), here);
      return true;
    }
  }
  return false;
}

z3::expr_vector joined(const z3::expr_vector& a, const z3::expr_vector& b) {
  z3::expr_vector all(a.ctx());
  for (const z3::expr_vector* some : {&a, &b}) {
    for (unsigned i = 0; i < some->size(); ++i) {
      all.push_back((*some)[static_cast<int>(i)]);
    }
  }
  return all;
}

z3::expr_vector joined(const z3::expr_vector& a, const z3::expr& b) {
  z3::expr_vector one(a.ctx());
  one.push_back(b);
  return joined(a, one);
}

}  // namespace

template <class Answering>
void Questions::timed(const std::string& text, Answer wanted, Answering answering) {
  Query query;
  query.group = group_;
  query.claim = text;
  query.wanted = wanted;
  const auto start = std::chrono::steady_clock::now();
  query.answer = answering(&query.values);
  query.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  asked_.push_back(std::move(query));
}

void Questions::follows(const std::string& text, const z3::expr_vector& given, const z3::expr& claim, const Shown& shown) {
  timed(text, Answer::proved, [&](Values* values) {
    z3::solver solver = solver_of(context_, joined(given, !claim));
    const z3::check_result result = solver.check();
    if (result == z3::sat) {
      *values = values_of(solver.get_model(), shown);
    }
    return result == z3::unsat ? Answer::proved : (result == z3::sat ? Answer::refuted : Answer::undecided);
  });
}

void Questions::follows(const std::string& text, const Arithmetic& arithmetic, const z3::expr_vector& given,
                        const z3::expr& claim, const Shown& shown, const std::vector<Fixed>& places) {
  timed(text, Answer::proved, [&](Values* values) {
    const z3::expr_vector against = joined(given, !claim);
    if (solver_of(context_, joined(against, arithmetic.facts())).check() == z3::unsat) {
      return Answer::proved;
    }
    return find_real(arithmetic, against, shown, places, values) ? Answer::refuted : Answer::undecided;
  });
}

void Questions::can_be_met(const std::string& text, const Arithmetic& arithmetic, const z3::expr_vector& given,
                           const Shown& shown, const std::vector<Fixed>& places) {
  timed(text, Answer::refuted, [&](Values* values) {
    return find_real(arithmetic, given, shown, places, values) ? Answer::refuted : Answer::undecided;
  });
}

void Questions::fails_first(const std::string& text, const z3::expr_vector& given, const z3::expr& claim,
                            const std::vector<z3::expr>& least, const Shown& shown) {
  timed(text, Answer::refuted, [&](Values* values) {
    z3::optimize optimize(context_);
    z3::params limits(context_);
    limits.set("timeout", milliseconds);
    optimize.set(limits);
    for (unsigned i = 0; i < given.size(); ++i) {
      optimize.add(given[static_cast<int>(i)]);
    }
    optimize.add(!claim);
    for (const z3::expr& what : least) {
      optimize.minimize(what);
    }
    const z3::check_result result = optimize.check();
    if (result == z3::sat) {
      *values = values_of(optimize.get_model(), shown);
    }
    return result == z3::sat ? Answer::refuted : (result == z3::unsat ? Answer::proved : Answer::undecided);
  });
}

}  // namespace kvproof::proofs
