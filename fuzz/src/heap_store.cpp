#include "kvproof/fuzz/heap_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "kvproof/device/poison.h"
#include "kvproof/device/store_call.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/expectation.h"

namespace kvproof::fuzz {
namespace {

using Bytes = std::unique_ptr<std::uint8_t[]>;

Bytes copy_of(const std::vector<std::uint8_t>& bytes) {
  Bytes copy = std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size());
  if (!bytes.empty()) {
    std::memcpy(copy.get(), bytes.data(), bytes.size());
  }
  return copy;
}

// The first byte in which `found` is not `expected`, or nothing.
std::optional<std::size_t> difference(const std::uint8_t* found, const std::vector<std::uint8_t>& expected) {
  if (expected.empty() || std::memcmp(found, expected.data(), expected.size()) == 0) {
    return std::nullopt;
  }
  const auto at = std::mismatch(expected.begin(), expected.end(), found).first;
  return static_cast<std::size_t>(at - expected.begin());
}

}  // namespace

void HeapStore::expect(const FuzzCall& call) {
  const StoreShape& s = case_.shape;
  const Dialect& dialect = subject().dialect;
  const LayoutShape layout = layout_shape(s.layout);
  const auto written = static_cast<std::size_t>(layout.scale_bytes - (dialect.pad == Pad::keep ? layout.pad : 0));
  for (std::size_t token = 0; token < case_.indices.size(); ++token) {
    const Location at = locate(case_.indices[token], s.pages, s.page_size, dialect);
    if (at.fate != Fate::stored) {
      continue;
    }
    const RowImage& image = maker_.row(call, token, s).image;
    std::uint8_t* page = expected_.data() + at.page * s.page_stride;
    std::memcpy(page + data_offset(s.layout, at.slot), image.data, static_cast<std::size_t>(layout.data_bytes));
    std::memcpy(page + scale_offset(s.layout, at.slot, s.page_size), image.scales, written);
  }
}

std::optional<std::string> HeapStore::run(const FuzzCall& call) {
  maker_.make(call, case_);
  const StoreShape& s = case_.shape;
  const auto pool_bytes = static_cast<std::size_t>(s.pool_bytes());
  const Poison poison{0x6b767072};
  while (poison_.size() < pool_bytes) {
    poison_.push_back(poison_byte(poison, static_cast<std::int64_t>(poison_.size())));
  }
  expected_.assign(poison_.begin(), poison_.begin() + static_cast<std::ptrdiff_t>(pool_bytes));
  const std::vector<std::uint8_t> index_bytes = index_bytes_of(case_);
  const Bytes pool = copy_of(expected_);
  const Bytes input = copy_of(case_.input);
  const Bytes indices = copy_of(index_bytes);
  const kvproof_store_call store = store_call(s, pool.get(), input.get(), indices.get(), nullptr);
  const char* message = nullptr;
  if (const std::int32_t answer = subject().store(subject().state, &store, &message); answer != KVPROOF_STORED) {
    return fmt::format("the kernel answered {}: {}", answer, message == nullptr ? "no message" : message);
  }
  expect(call);
  if (const auto at = difference(pool.get(), expected_)) {
    WrongByte wrong;
    wrong.offset = static_cast<std::int64_t>(*at);
    wrong.page = wrong.offset / s.page_stride;
    wrong.place = place_in_page(s.layout, s.page_size, wrong.offset % s.page_stride);
    return fmt::format("{}: expected 0x{:02x}, found 0x{:02x}", describe_place(wrong, s), expected_[*at], pool[*at]);
  }
  if (const auto at = difference(input.get(), case_.input)) {
    return fmt::format("byte {} of the input was changed", *at);
  }
  if (const auto at = difference(indices.get(), index_bytes)) {
    return fmt::format("byte {} of the indices was changed", *at);
  }
  return std::nullopt;
}

}  // namespace kvproof::fuzz
