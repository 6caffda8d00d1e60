// Questions to the solver, and their answers.
#pragma once

#include <z3++.h>

#include <string>
#include <utility>
#include <vector>

#include "kvproof/proofs/addresses.h"
#include "kvproof/proofs/term.h"

namespace kvproof::proofs {

// What a counterexample shows: a name and the expression whose value it is.
using Shown = std::vector<std::pair<std::string, z3::expr>>;

// Values of unknowns at which a counterexample is looked for, say a page size of 64.
using Fixed = std::vector<std::pair<z3::expr, std::int64_t>>;

class Questions {
 public:
  explicit Questions(z3::context& context) : context_(context) {}

  z3::context& context() { return context_; }
  std::vector<Query>& asked() { return asked_; }
  void group(std::string name) { group_ = std::move(name); }

  // Whether `claim` follows from `given` alone.
  void follows(const std::string& text, const z3::expr_vector& given, const z3::expr& claim, const Shown& shown = {});

  // The same about arithmetic with products of unknowns. A product is a free variable there, so a model need not be a
  // counterexample: it counts as one only where the products are real at one of `places`.
  void follows(const std::string& text, const Arithmetic& arithmetic, const z3::expr_vector& given, const z3::expr& claim,
               const Shown& shown, const std::vector<Fixed>& places);

  // That something meets `given`: a claim that follows from a contradiction says nothing.
  void can_be_met(const std::string& text, const Arithmetic& arithmetic, const z3::expr_vector& given, const Shown& shown,
                  const std::vector<Fixed>& places);

  // That `claim` does not follow, and where that begins: the counterexample with the least of each of `least`, in order.
  void fails_first(const std::string& text, const z3::expr_vector& given, const z3::expr& claim,
                   const std::vector<z3::expr>& least, const Shown& shown);

 private:
  template <class Answering>
  void timed(const std::string& text, Answer wanted, Answering answering);

  z3::context& context_;
  std::string group_;
  std::vector<Query> asked_;
};

}  // namespace kvproof::proofs
