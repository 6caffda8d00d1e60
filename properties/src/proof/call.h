// The store calls of a proof: a batch of rows into a pool of its own, slots in a permuted order.
#pragma once

#include "kvproof/device/memory.h"
#include "kvproof/properties/proof_runner.h"

namespace kvproof {

// The slot of each of `rows` rows: 1 + (row * step + start) mod rows. Slot 0 stays free: some dialects take it for a dummy.
struct SlotOrder {
  std::int64_t rows = 0;
  std::int64_t step = 1;  // shares no factor with `rows`
  std::int64_t start = 0;

  KVPROOF_HD constexpr std::int64_t index(std::int64_t row) const { return 1 + (row * step + start) % rows; }
};

SlotOrder slot_order(std::int64_t rows);

// The domain that the last question was about.
class KnownDomain {
 public:
  const ProofDomain& of(const ProofQuestion& question, const Dialect& dialect) {
    if (!domain_ || asked_.domain != question.domain || asked_.input != question.input || asked_.fp8 != question.fp8) {
      domain_.emplace(question.domain, dialect, question.input, question.fp8);
      asked_ = question;
    }
    return *domain_;
  }

 private:
  std::optional<ProofDomain> domain_;
  ProofQuestion asked_;
};

// The index type of the call that begins at row `first`.
IndexType index_type_at(const Subject& subject, const ProofQuestion& question, std::int64_t first);

// The shape of a call with `rows` rows.
StoreShape proof_shape(const Subject& subject, const ProofQuestion& question, std::int64_t rows, IndexType index_type);

// Calls the kernel and waits. Counts a refusal in `answer`, tells a failure there, and returns whether rows were stored.
bool store_rows(const Subject& subject, const StoreShape& shape, const void* input, void* pool, const void* indices,
                Memory& memory, ProofAnswer& answer);

#if defined(KVPROOF_HAS_CUDA)
std::unique_ptr<ProofRunner> cuda_proof_runner(const Subject& subject);
#endif

}  // namespace kvproof
