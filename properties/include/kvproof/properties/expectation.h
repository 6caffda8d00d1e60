// What a store must leave in the pool: who owns each slot, and the bytes each owner may leave there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvproof/device/launch.h"
#include "kvproof/device/poison.h"
#include "kvproof/device/subject.h"
#include "kvproof/properties/case.h"
#include "kvproof/reference/row.h"

namespace kvproof {

inline constexpr std::int32_t nobody = -1;

// The tokens whose rows may stand in a slot are a chain: first[page * page_size + slot], then next[token], until `nobody`.
// Plain arrays, so that a judge on the GPU reads them as they are.
struct ExpectationView {
  StoreShape shape;
  bool pad_written = false;
  const std::int32_t* first = nullptr;
  const std::int32_t* next = nullptr;
  const std::uint8_t* data = nullptr;    // the data plane's part of each token's row, `data_stride` bytes apart
  const std::uint8_t* scales = nullptr;  // the scale plane's part, `scale_stride` bytes apart
  std::int32_t data_stride = sizeof(RowImage);
  std::int32_t scale_stride = sizeof(RowImage);
  Poison poison;

  KVPROOF_HD const std::uint8_t* data_of(std::int32_t token) const { return data + std::int64_t{token} * data_stride; }
  KVPROOF_HD const std::uint8_t* scales_of(std::int32_t token) const { return scales + std::int64_t{token} * scale_stride; }
};

// What one byte of the pool must be.
struct ByteRule {
  std::int32_t token;  // the owner, or `nobody`: then the poison stays
  bool contended;      // several tokens own the unit: `expected` is that of the first
  std::uint8_t expected;
};

// A byte of a token's row, addressed as in the page.
KVPROOF_HD inline std::uint8_t row_byte(const ExpectationView& view, std::int32_t token, const PagePlace& place) {
  const LayoutShape layout = layout_shape(view.shape.layout);
  switch (place.region) {
    case Region::code:
      return view.data_of(token)[place.tile * layout.tile + place.element];
    case Region::rope:
      return view.data_of(token)[layout.codes + 2 * place.element + place.byte];
    case Region::scale:
      return view.scales_of(token)[place.tile * layout.bytes_per_scale + place.byte];
    case Region::pad:
    case Region::tail:
      break;
  }
  return 0;  // a written pad byte is 0
}

KVPROOF_HD inline ByteRule rule_of(const ExpectationView& view, std::int64_t page, std::int64_t within) {
  const PagePlace place = place_in_page(view.shape.layout, view.shape.page_size, within);
  const bool slot_byte = place.region != Region::tail && (place.region != Region::pad || view.pad_written);
  const std::int32_t token = slot_byte ? view.first[page * view.shape.page_size + place.slot] : nobody;
  if (token == nobody) {
    return {nobody, false, poison_byte(view.poison, page * view.shape.page_stride + within)};
  }
  return {token, view.next[token] != nobody, row_byte(view, token, place)};
}

// A slot that tokens own, page * page_size + slot of it, and the head of their chain.
struct OwnedSlot {
  std::int64_t slot;
  std::int32_t head;
};

struct Expectation {
  StoreShape shape;
  Dialect dialect;
  Duplicates duplicates = Duplicates::unit;
  std::vector<std::int32_t> first;  // of every slot, with Slots::all
  std::vector<OwnedSlot> owned;     // in order of slot, with Slots::owned
  std::vector<std::int32_t> next;
  std::vector<RowImage> rows;
  std::int64_t stored_tokens = 0;

  // Without the slots' heads where only owned slots are listed.
  ExpectationView view(const Poison& poison) const;

  // The head of a slot's chain, or `nobody`.
  std::int32_t head(std::int64_t slot) const;

  // Calls `take(slot, head)` with every owned slot, in order.
  template <class Take>
  void each_owned(Take take) const {
    for (const OwnedSlot& one : owned) {
      take(one.slot, one.head);
    }
    for (std::size_t slot = 0; slot < first.size(); ++slot) {
      if (first[slot] != nobody) {
        take(static_cast<std::int64_t>(slot), first[slot]);
      }
    }
  }
};

enum class Rows : std::uint32_t { encoded, left_out };

// An entry for every slot, or a list of those that tokens own: pools of gigabytes have millions that nobody does.
enum class Slots : std::uint32_t { all, owned };

// Encodes every stored token of the case, or leaves that to someone faster. With Duplicates::last only the last token of a
// slot is in its chain. Throws BadInput when a token is outside the dialect's contract.
Expectation expect(const Case& c, const Dialect& dialect, Duplicates duplicates, Rows rows = Rows::encoded,
                   Slots slots = Slots::all);

// The same of several steps on one pool: a later call's tokens take a slot from an earlier one's, those of one call contend
// for it, and a copied slot has the chain of the one that it is copied from. With copies among them, no two steps store the
// same token.
Expectation expect(const Case& c, const Dialect& dialect, Duplicates duplicates, Rows rows, const std::vector<Step>& steps,
                   Slots slots = Slots::all);

// Why a case cannot be run under a dialect (a stride too small, an index outside the contract, ...), or nothing.
std::optional<std::string> case_contradiction(const Case& c, const Dialect& dialect);

// The index array as the kernel reads it.
std::vector<std::uint8_t> index_bytes_of(const Case& c);

}  // namespace kvproof
