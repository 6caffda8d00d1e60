// An address map under proof: the arithmetic of one layout's kernel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kvproof/proofs/ask.h"
#include "kvproof/proofs/term.h"
#include "kvproof/reference/layout.h"

namespace kvproof::proofs {

struct AddressMap {
  Layout layout;
  std::function<Term(const Term& page, const Term& page_stride)> page_begin;
  std::function<Term(const Term& slot)> data;                           // from the page's first byte
  std::function<Term(const Term& slot, const Term& page_size)> scales;  // likewise
  std::int64_t token_bytes;                                             // page strides of fewer for each token are refused
};

// The map of the production kernels, from their own source.
AddressMap kernel_map(Layout layout);

// Bytes of a token that a kernel writes.
struct OwnedRange {
  std::string name;
  bool in_scales;      // of the page's second plane
  std::int64_t begin;  // from where the token's part of its plane begins
  std::int64_t end;
};

// Codes, rope, scales and pad, whichever the layout has.
std::vector<OwnedRange> owned_ranges(Layout layout);

// Every claim about a map in 64 bits.
void ask_map(Questions& questions, const AddressMap& map);

// Where the map in 32 bits first parts from itself in 64.
void ask_narrow(Questions& questions);

}  // namespace kvproof::proofs
