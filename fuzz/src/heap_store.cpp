#include "kvproof/fuzz/heap_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "kvproof/device/poison.h"
#include "kvproof/device/store_call.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/expectation.h"

namespace kvproof::fuzz {
namespace {

// AddressSanitizer's allocator maps what is larger anew each time, and its pages fault in one by one: more work than the
// store. So such pools, few sizes of them, are kept.
constexpr std::size_t large_pool = 120 << 10;
constexpr std::size_t most_kept = 16;

std::unique_ptr<std::uint8_t[]> copy_of(const std::vector<std::uint8_t>& bytes) {
  auto copy = std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size());
  if (!bytes.empty()) {
    std::memcpy(copy.get(), bytes.data(), bytes.size());
  }
  return copy;
}

// The first byte in which `found` is not `expected`, or nothing.
std::optional<std::size_t> difference(const std::uint8_t* found, std::span<const std::uint8_t> expected) {
  if (expected.empty() || std::memcmp(found, expected.data(), expected.size()) == 0) {
    return std::nullopt;
  }
  const auto at = std::mismatch(expected.begin(), expected.end(), found).first;
  return static_cast<std::size_t>(at - expected.begin());
}

}  // namespace

HeapStore::Bytes HeapStore::poisoned_pool(std::size_t bytes) {
  const Poison poison{0x6b767072};
  while (poison_.size() < bytes) {
    poison_.push_back(poison_byte(poison, static_cast<std::int64_t>(poison_.size())));
    expected_.push_back(poison_.back());
  }
  if (auto node = kept_.extract(bytes)) {
    return std::move(node.mapped());
  }
  Bytes pool = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  std::memcpy(pool.get(), poison_.data(), bytes);
  return pool;
}

template <class Take>
void HeapStore::each_stored_part(const FuzzCall& call, const Take& take) {
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
    const std::int64_t page = at.page * s.page_stride;
    take(static_cast<std::size_t>(page + data_offset(s.layout, at.slot)), image.data,
         static_cast<std::size_t>(layout.data_bytes));
    take(static_cast<std::size_t>(page + scale_offset(s.layout, at.slot, s.page_size)), image.scales, written);
  }
}

// `pool` is as expected.
void HeapStore::keep(const FuzzCall& call, Bytes pool) {
  const auto bytes = static_cast<std::size_t>(case_.shape.pool_bytes());
  if (bytes < large_pool || kept_.size() == most_kept) {
    return;
  }
  each_stored_part(call, [&](std::size_t at, const std::uint8_t*, std::size_t count) {
    std::memcpy(pool.get() + at, poison_.data() + at, count);
  });
  kept_.emplace(bytes, std::move(pool));
}

std::optional<std::string> HeapStore::wrong_byte(const FuzzCall& call, const std::uint8_t* pool) {
  const StoreShape& s = case_.shape;
  each_stored_part(call, [this](std::size_t at, const std::uint8_t* bytes, std::size_t count) {
    std::memcpy(expected_.data() + at, bytes, count);
  });
  const std::span<const std::uint8_t> expected(expected_.data(), static_cast<std::size_t>(s.pool_bytes()));
  std::optional<std::string> told;
  if (const auto at = difference(pool, expected)) {
    WrongByte wrong;
    wrong.offset = static_cast<std::int64_t>(*at);
    wrong.page = wrong.offset / s.page_stride;
    wrong.place = place_in_page(s.layout, s.page_size, wrong.offset % s.page_stride);
    told = fmt::format("{}: expected 0x{:02x}, found 0x{:02x}", describe_place(wrong, s), expected[*at], pool[*at]);
  }
  each_stored_part(call, [this](std::size_t at, const std::uint8_t*, std::size_t count) {
    std::memcpy(expected_.data() + at, poison_.data() + at, count);
  });
  return told;
}

std::optional<std::string> HeapStore::run(const FuzzCall& call) {
  maker_.make(call, case_);
  const StoreShape& s = case_.shape;
  const auto pool_bytes = static_cast<std::size_t>(s.pool_bytes());
  const std::vector<std::uint8_t> index_bytes = index_bytes_of(case_);
  Bytes pool = poisoned_pool(pool_bytes);
  const Bytes input = copy_of(case_.input);
  const Bytes indices = copy_of(index_bytes);
  const kvproof_store_call store = store_call(s, pool.get(), input.get(), indices.get(), nullptr);
  const char* message = nullptr;
  if (const std::int32_t answer = subject().store(subject().state, &store, &message); answer != KVPROOF_STORED) {
    return fmt::format("the kernel answered {}: {}", answer, message == nullptr ? "no message" : message);
  }
  if (const auto wrong = wrong_byte(call, pool.get())) {
    return wrong;
  }
  keep(call, std::move(pool));
  if (const auto at = difference(input.get(), case_.input)) {
    return fmt::format("byte {} of the input was changed", *at);
  }
  if (const auto at = difference(indices.get(), index_bytes)) {
    return fmt::format("byte {} of the indices was changed", *at);
  }
  return std::nullopt;
}

}  // namespace kvproof::fuzz
