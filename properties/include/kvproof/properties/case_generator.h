// Cases for one subject: shapes it takes, values and indices where kernels go wrong, and how a failing case gets smaller.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kvproof/device/subject.h"
#include "kvproof/properties/case.h"
#include "kvproof/properties/draw.h"
#include "kvproof/properties/indices.h"
#include "kvproof/properties/values.h"

namespace kvproof {

// What a property wants drawn more often.
struct CaseFocus {
  ValueWeights values = balanced_values;
  IndexWeights indices = balanced_indices;
  std::int64_t most_tokens = 96;
  // Shared by all tokens of a case: encoding is the cost of a case, and address properties need no fresh values.
  bool fresh_rows = true;
  // Pools of 3 to 9 GiB: few pages far apart, as a cache that packs layers has them, or many near each other.
  bool far_pools = false;
  // Pages of 257 to 4,096 slots where the subject takes them, and batches beyond the usual ones: some of 129 to 65,535
  // tokens, and at the largest sizes one of about 65,536.
  bool large_shapes = false;
  // Invalid indices may be anything their type holds, not only what lands near the pool: for isolated kernels.
  bool extreme_indices = false;

  // Gigabytes of pool or tens of thousands of tokens: a case takes as long as tens of others.
  bool costly() const { return far_pools || large_shapes; }
};

// Tokens that only a case of large shapes has more of.
constexpr std::int64_t usual_batch = 128;

// Tokens of the largest batch that is drawn for `subject`. With an error declared it is no more than the judge can explain:
// it keeps `Judgement::kept` bytes that are other than the model's.
std::int64_t largest_batch(const Subject& subject);

// One case; `size` from 0 to 100 scales the batch.
Case draw_case(Draw& draw, const Subject& subject, const CaseFocus& focus, int size);

// Cases a step smaller than `c`, the boldest steps first, each made when it is asked for: of a large batch they are many,
// and as large. Each can be run for the subject, which must outlive this.
class SmallerCases {
 public:
  using Step = std::function<Case(const Case&)>;

  SmallerCases(const Case& c, const Subject& subject);

  // The next one, or nothing after the last.
  std::optional<Case> next();

 private:
  std::shared_ptr<const Case> c_;
  const Subject* subject_;
  std::shared_ptr<const std::vector<Step>> steps_;
  std::size_t next_ = 0;
};

}  // namespace kvproof
