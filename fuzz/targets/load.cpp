// Reading rows back from arbitrary pages: no byte outside the pool is read, and each code decodes to what the oracle's table
// says.
#include "kvproof/reference/load.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "kvproof/oracle/code_table.h"
#include "kvproof/reference/model.h"

namespace {

using namespace kvproof;

constexpr std::int64_t most_page_size = 4;

// A NaN is a NaN; zeros keep their sign.
bool same(F32 found, double expected) {
  const auto value = std::bit_cast<float>(found);
  return std::isnan(expected) ? std::isnan(value)
                              : static_cast<double>(value) == expected && std::signbit(value) == std::signbit(expected);
}

void check_codes(const std::uint8_t* codes, std::int64_t count, Fp8 type) {
  for (std::int64_t i = 0; i < count; ++i) {
    F32 pattern = 0;
    model::decode(codes + i, 1, type, &pattern);
    if (!same(pattern, oracle::code_values(type)[codes[i]])) {
      fmt::print(stderr, "code 0x{:02x} decodes to 0x{:08x}, expected {}\n", codes[i], pattern,
                 oracle::code_values(type)[codes[i]]);
      std::abort();
    }
  }
}

}  // namespace

// The first bytes are layout, fp8 type, page size and pages; the rest fills the pool, again and again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t header = 4;
  if (size <= header) {
    return 0;
  }
  StoreShape s;
  s.layout = static_cast<Layout>(data[0] % 2);
  s.fp8 = static_cast<Fp8>(data[1] % 2);
  s.page_size = 1 + data[2] % most_page_size;
  s.pages = 1 + data[3] % 2;
  s.page_stride = smallest_page_stride(s.layout, s.page_size);  // no tail: an over-read leaves the pool
  const auto bytes = static_cast<std::size_t>(s.pool_bytes());
  const auto pool = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    pool[i] = data[header + i % (size - header)];
  }
  std::array<F32, 512> values{};
  for (std::int64_t page = 0; page < s.pages; ++page) {
    for (std::int64_t slot = 0; slot < s.page_size; ++slot) {
      model::load_row(pool.get(), s, page, slot, values.data());
      check_codes(pool.get() + page * s.page_stride + data_offset(s.layout, slot), layout_shape(s.layout).codes, s.fp8);
    }
  }
  return 0;
}
