// The production kernels write exactly the bytes that the proof is about. They run with a machine that notes addresses and
// touches no memory, so indices and strides reach as far as the preconditions let them.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "kernels/lane.h"
#include "kernels/machine_host.h"
#include "kvproof/proofs/map.h"

namespace kvproof::kernels {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

constexpr std::uint64_t base = 1 << 20;  // of a pool that does not exist

std::vector<std::uint64_t> noted;  // every byte's offset from the base

void note(const std::uint8_t* at, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    noted.push_back(reinterpret_cast<std::uintptr_t>(at) - base + static_cast<std::uint64_t>(i));
  }
}

struct NotingMachine : HostMachine {
  static void store16(std::uint8_t* at, const Block&) { note(at, 16); }
  static void store4(std::uint8_t* at, std::uint32_t) { note(at, 4); }
  static void store2(std::uint8_t* at, std::uint32_t) { note(at, 2); }
  static void store1(std::uint8_t* at, std::uint32_t) { note(at, 1); }
  static std::uint32_t e4m3fn_codes(const float*, const Fp8Format&) { return 0; }
};

struct Call {
  Layout layout;
  std::int64_t page_size, page_stride, pages, index;
};

template <class Lanes>
std::multiset<std::uint64_t> written(const Call& call) {
  StorePlan plan{};
  plan.cache = reinterpret_cast<std::uint8_t*>(base);
  plan.page_stride = call.page_stride;
  plan.page_size = call.page_size;
  plan.capacity = call.pages * call.page_size;
  const auto size = static_cast<std::uint64_t>(call.page_size);
  plan.page_shift = std::has_single_bit(size) ? std::countr_zero(size) : -1;
  plan.cache_width = call.page_stride % 16 == 0 ? 16 : 1;
  plan.rules.dialect.layout = call.layout;
  plan.rules.dialect.pad = Pad::zero;
  plan.rules.fp8.limit = 448;
  noted.clear();
  for (int position = 0; position < Lanes::a_token; ++position) {
    Lane lane{};
    lane.place = place_of(plan, call.index);
    Lanes::template store<NotingMachine, ElementType::bf16>(plan, lane, position);
  }
  return {noted.begin(), noted.end()};
}

std::multiset<std::uint64_t> owned(const Call& call) {
  std::multiset<std::uint64_t> bytes;
  const std::int64_t page = call.index / call.page_size;
  const std::int64_t slot = call.index % call.page_size;
  for (const proofs::OwnedRange& range : proofs::owned_ranges(call.layout)) {
    const std::int64_t plane = page * call.page_stride + (range.in_scales ? scale_offset(call.layout, slot, call.page_size)
                                                                          : data_offset(call.layout, slot));
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      bytes.insert(static_cast<std::uint64_t>(plane + i));
    }
  }
  return bytes;
}

TEST(kernel_addresses, kernels_write_the_bytes_that_the_proof_is_about) {
  std::int64_t calls = 0;
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    for (const std::int64_t size : {1, 2, 3, 7, 63, 64, 65, 128, 255, 256, 1000, 4095, 4096, 65'537, 2'147'483'647}) {
      const std::int64_t least = smallest_page_stride(layout, size);
      for (const std::int64_t stride :
           {least, least + 1, production_page_stride(layout, size), least + (1 << 20), least + (std::int64_t{1} << 42)}) {
        const std::int64_t pages = most / stride;
        const std::int64_t capacity = pages * size;
        std::set<std::int64_t> indices{0, 1, size - 1, size, size + 1, capacity - size, capacity - 1};
        for (const int bit : {31, 32, 33, 40, 50}) {
          for (const std::int64_t beside : {-1, 0, 1}) {
            indices.insert((std::int64_t{1} << bit) + beside);
          }
        }
        for (const std::int64_t index : indices) {
          if (index >= 0 && index < capacity) {
            const Call call{layout, size, stride, pages, index};
            const auto bytes = layout == Layout::flashmla ? written<FlashmlaLanes>(call) : written<IndexerLanes>(call);
            ASSERT_EQ(bytes, owned(call)) << "P " << size << ", S " << stride << ", index " << index;
            ++calls;
          }
        }
      }
    }
  }
  EXPECT_GT(calls, 2000);
}

TEST(kernel_addresses, indices_outside_the_pool_are_turned_away) {
  StorePlan plan{};
  plan.cache = reinterpret_cast<std::uint8_t*>(base);
  plan.page_size = 64;
  plan.page_stride = 37440;
  plan.capacity = 640;
  plan.page_shift = 6;
  for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{640}, most, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(place_of(plan, index).page, nullptr) << index;
  }
}

}  // namespace
}  // namespace kvproof::kernels
