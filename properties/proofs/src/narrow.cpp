// The kernels' map in 32 bits. An offset counts elements of the pointer's type, so each plane wraps at a place of its own.
#include <fmt/format.h>

#include "kvproof/proofs/map.h"
#include "kvproof/reference/names.h"

namespace kvproof::proofs {
namespace {

struct Narrow {
  Layout layout;
  std::int64_t page_size;
  Width width;
  std::string region;  // empty: all of the row
  int view;            // bytes of an element of the pointer
};

// Engines' page sizes and strides.
const std::vector<Narrow>& narrow_maps() {
  static const std::vector<Narrow> all{
      {Layout::flashmla, 256, Width::int32, "", 1},
      {Layout::flashmla, 128, Width::int32, "", 1},
      {Layout::flashmla, 64, Width::int32, "", 1},
      {Layout::flashmla, 2, Width::int32, "", 1},
      {Layout::flashmla, 256, Width::int32, "rope values", 2},
      {Layout::flashmla, 128, Width::int32, "rope values", 2},
      {Layout::flashmla, 64, Width::int32, "rope values", 2},
      {Layout::indexer, 64, Width::int32, "codes", 1},
      {Layout::indexer, 64, Width::int32, "scales", 1},
      {Layout::indexer, 64, Width::int32, "scales", 4},
      {Layout::flashmla, 256, Width::uint32, "", 1},
      {Layout::flashmla, 64, Width::uint32, "", 1},
      {Layout::flashmla, 64, Width::uint32, "rope values", 2},
      {Layout::indexer, 64, Width::uint32, "codes", 1},
      {Layout::indexer, 64, Width::uint32, "scales", 4},
  };
  return all;
}

// That `kept` is what a register of 32 bits holds of `count`: a value of its range, and `count` but for a multiple of 2^32.
z3::expr narrows(const z3::expr& count, const z3::expr& kept, const z3::expr& wraps, Width width) {
  z3::context& z = count.ctx();
  const std::int64_t least = width == Width::int32 ? -(std::int64_t{1} << 31) : std::int64_t{0};
  const std::int64_t all = std::int64_t{1} << 32;
  return kept >= z.int_val(least) && kept < z.int_val(least + all) && count == kept + wraps * z.int_val(all);
}

void ask_narrow(Questions& questions, const Narrow& narrow) {
  z3::context& z = questions.context();
  const AddressMap map = kernel_map(narrow.layout);
  Arithmetic arithmetic(z);
  const std::int64_t stride = production_page_stride(narrow.layout, narrow.page_size);
  const Term page_size(arithmetic, z.int_val(narrow.page_size));
  const Term page_stride(arithmetic, z.int_val(stride));
  const Term page = arithmetic.unknown("page");
  const Term slot = arithmetic.unknown("slot");
  const z3::expr index = (page * page_size + slot).value();
  const Term begin = map.page_begin(page, page_stride);
  const z3::expr data = (begin + map.data(slot)).value();
  const z3::expr scales = (begin + map.scales(slot, page_size)).value();
  const z3::expr offset = z.int_const("offset");  // of a byte of the row

  z3::expr owned = z.bool_val(false);
  for (const OwnedRange& range : owned_ranges(narrow.layout)) {
    if (narrow.region.empty() || narrow.region == range.name) {
      const z3::expr& plane = range.in_scales ? scales : data;
      owned = owned || (offset >= plane + z.int_val(range.begin) && offset < plane + z.int_val(range.end));
    }
  }
  z3::expr_vector given(z);
  given.push_back(page.value() >= 0 && slot.value() >= 0 && slot.value() < z.int_val(narrow.page_size));
  given.push_back((page.value() + 1) * z.int_val(stride) <= z.int_val(std::int64_t{1} << 50));
  given.push_back(owned);
  const z3::expr element = z.int_const("element");
  const z3::expr rest = z.int_const("byte of the element");
  const z3::expr kept = z.int_const("element kept");
  given.push_back(offset == element * narrow.view + rest && rest >= 0 && rest < narrow.view);
  given.push_back(narrows(element, kept, z.int_const("wraps"), narrow.width));
  // The least index is that of the least page, and there of the least slot.
  const z3::expr lands = kept * narrow.view + rest;
  questions.fails_first(
      fmt::format("{}, P = {}, S = {}: {} by {} offsets of {} are where 64 bits put them", name_of(narrow.layout),
                  narrow.page_size, stride, narrow.region.empty() ? "rows" : narrow.region, name_of(narrow.width),
                  narrow.view == 1 ? "bytes" : fmt::format("{}-byte elements", narrow.view)),
      given, lands == offset, {page.value(), slot.value(), offset},
      {{"index", index}, {"page", page.value()}, {"slot", slot.value()}, {"byte", offset}, {"written at", lands}});
}

}  // namespace

void ask_narrow(Questions& questions) {
  questions.group("32 bits");
  for (const Narrow& narrow : narrow_maps()) {
    ask_narrow(questions, narrow);
  }
}

}  // namespace kvproof::proofs
