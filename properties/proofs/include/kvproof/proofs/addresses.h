// The address proof: what the production kernels' address arithmetic holds for every pool, page size, stride and index at
// once, and where the same arithmetic in 32 bits first goes wrong.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvproof::proofs {

enum class Answer : std::uint32_t { proved, refuted, undecided };

// The values of a counterexample or of a witness, in the order in which one reads them.
using Values = std::vector<std::pair<std::string, std::int64_t>>;

// One question to the solver.
struct Query {
  std::string group;  // "lemmas", "flashmla", "indexer", "32 bits"
  std::string claim;
  Answer wanted = Answer::proved;
  Answer answer = Answer::undecided;
  Values values;  // what refutes the claim
  double seconds = 0;

  bool as_wanted() const { return answer == wanted; }
};

struct AddressProof {
  std::string solver;  // its name and version
  std::vector<Query> queries;

  // Every claim was proved that must be, and every one refuted that must be.
  bool holds() const {
    return !queries.empty() &&
           std::all_of(queries.begin(), queries.end(), [](const Query& query) { return query.as_wanted(); });
  }
};

// Asks everything. Takes a few seconds.
AddressProof prove_addresses();

inline std::string_view name_of(Answer answer) {
  static constexpr std::array<std::string_view, 3> names{"proved", "refuted", "undecided"};
  return names.at(static_cast<std::size_t>(answer));
}

}  // namespace kvproof::proofs
