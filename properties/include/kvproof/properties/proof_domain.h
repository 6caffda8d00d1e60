// A domain of a proof: what is enumerated for one kernel, input type and fp8 type, and how many pairs that is.
//
//   scales      amax x 2 signs x elements of a tile x tiles of a row. bf16: all 32,640 finite amax; fp16: all 31,744; fp32:
//               those within 64 ulp of a binade edge, of M * 2^k, of the floor, and the ends of the range
//   codes       the sum of 2 * (A + 1) over amax A: bf16 and fp16, scales that are powers of two: the largest amax A of each
//               reachable scale; else every amax A. fp32: the largest finite A, so every finite x
//   pairs       the sum of 2 * (A + 1) over every amax A of bf16 and fp16, where scales are powers of two; else `codes` has
//   them rope        64 places x 65,536 patterns; fp32 has 6 lower halves for each non-finite  S x (5 + S) x elements of a
//   tile x tiles of a row, for the S patterns whose value the dialect states positions   6 pairs x elements x (elements - 1)
//   of a tile x tiles of a row
#pragma once

#include <vector>

#include "kvproof/properties/proof_rows.h"
#include "kvproof/reference/dialect.h"

namespace kvproof {

class ProofDomain {
 public:
  ProofDomain(Domain domain, const Dialect& dialect, ElementType input, Fp8 fp8);

  // Whether there is anything: an indexer has no rope, and a dialect may state nothing for NaN and infinity.
  bool empty() const { return rows_ == 0; }
  std::int64_t rows() const { return rows_; }

  // The domain's own number: pairs of the rows [first, last), from the formula and not by making them.
  std::int64_t pairs(std::int64_t first, std::int64_t last) const;
  std::int64_t pairs() const { return pairs(0, rows_); }

  // Valid as long as this domain is.
  DomainView view() const;

  const std::vector<CodeGroup>& groups() const { return groups_; }
  const std::vector<std::uint32_t>& amaxes() const { return amaxes_; }

  // Bytes of one row, and the row itself at `to`.
  std::int64_t row_bytes() const;
  void make_row(std::int64_t row, std::uint8_t* to) const;

 private:
  void list_amaxes(const Dialect& dialect, Fp8 fp8);
  void list_groups(const Dialect& dialect, Fp8 fp8, bool one_a_scale);
  void list_specials(const Dialect& dialect);
  std::int64_t code_pairs_before(std::int64_t tile) const;
  std::int64_t rope_nan_values_before(std::int64_t row) const;

  Domain domain_;
  ElementType input_;
  Layout layout_;
  std::int64_t rows_ = 0;
  std::vector<CodeGroup> groups_;
  std::vector<std::uint32_t> amaxes_;
  std::vector<std::uint32_t> specials_;
  std::int64_t amax_count_ = 0;
  bool rope_nan_ = true;
};

}  // namespace kvproof
