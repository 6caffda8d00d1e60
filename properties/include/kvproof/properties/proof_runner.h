// Running rows of a domain through a kernel: made, stored, and every byte they own compared with the model's.
//
// Before the kernel runs, each of those bytes holds the complement of what it must become, so that none is right by not
// being written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kvproof/device/subject.h"
#include "kvproof/properties/proof_domain.h"
#include "kvproof/reference/row.h"

namespace kvproof {

// The pages of a proof's pool.
struct ProofPages {
  std::int64_t size = 0;    // tokens
  std::int64_t stride = 0;  // bytes

  friend bool operator==(const ProofPages&, const ProofPages&) = default;
};

// Pages that a kernel may take, the usual ones first: as engines allocate them, without a tail, and aligned more than that.
std::vector<ProofPages> pages_to_try(const Subject& subject);

// Rows [first, last) of a domain.
struct ProofQuestion {
  Domain domain = Domain::scales;
  ElementType input = ElementType::bf16;
  Fp8 fp8 = Fp8::e4m3fn;
  std::int64_t first = 0;
  std::int64_t last = 0;
  ProofPages pages;
  std::int64_t rows_a_call = 1;
  std::optional<IndexType> index;  // none: the kernel's types take turns, call by call
};

// What came of them.
struct ProofAnswer {
  std::int64_t pairs = 0;    // of the rows that were stored and compared, counted row by row
  std::int64_t codes = 0;    // compared
  std::int64_t bytes = 0;    // compared
  std::int64_t refused = 0;  // rows of calls that the kernel refused
  std::string refusal;       // its words
  std::int64_t wrong_rows = 0;
  std::int64_t wrong_bytes = 0;
  std::int64_t first_wrong = -1;            // the lowest wrong row
  IndexType index_type = IndexType::int32;  // of its call
  RowImage found{};                         // what stood in its slot, the pad byte included
  std::int64_t explained = 0;               // codes that are not the model's and that the dialect's declared error explains
  std::int64_t explained_row = -1;          // with one of them
  RowImage explained_found{};               // what stood in its slot
  std::optional<std::string> failure;       // the kernel failed, threw or ended its process: "the kernel crashed: ..."
  std::vector<std::string> last_lines;      // what it printed before
};

// The pad byte of a row where the dialect keeps it; it differs from row to row.
KVPROOF_HD constexpr std::uint8_t kept_pad(std::int64_t row) { return static_cast<std::uint8_t>(0x5A ^ (row & 0xFF)); }

// The complement of a row as it must be, and the pad byte of a dialect that keeps it as it is: what a slot holds before.
KVPROOF_HD constexpr std::uint8_t pad_before(std::int64_t row, Pad pad) { return pad == Pad::keep ? kept_pad(row) : 0xFF; }
KVPROOF_HD constexpr std::uint8_t pad_after(std::int64_t row, Pad pad) { return pad == Pad::keep ? kept_pad(row) : 0; }

class ProofRunner {
 public:
  ProofRunner() = default;
  ProofRunner(const ProofRunner&) = delete;
  ProofRunner& operator=(const ProofRunner&) = delete;
  virtual ~ProofRunner() = default;

  // Stops at the first call with a wrong row. Throws CannotRun when the device breaks, and what the kernel throws.
  virtual ProofAnswer run(const ProofQuestion& question) = 0;
};

// On the memory that the subject lives in.
std::unique_ptr<ProofRunner> proof_runner(const Subject& subject);

// Rows that one call carries: as many as are fast, and fewer for a kernel that refuses those.
std::vector<std::int64_t> rows_a_call_to_try(const Subject& subject, ElementType input);

}  // namespace kvproof
