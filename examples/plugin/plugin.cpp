// A complete kvproof plug-in: both layouts in the `strict` dialect, bf16 to e4m3fn, on the host, one element at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kvproof/kernel.h"

namespace {

using Bytes = unsigned char*;

float bf16_value(const unsigned char* row, int i) {
  const std::uint32_t bits = (row[2 * i + 1] * 256u + row[2 * i]) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

// The largest magnitude: NaN ignored, infinity as the largest finite bf16; at least 1e-4.
float floored_amax(const unsigned char* row, int first, int count) {
  float amax = 1e-4f;
  for (int i = first; i < first + count; ++i) {
    const float x = bf16_value(row, i);
    amax = std::isnan(x) ? amax : std::max(amax, std::isinf(x) ? 0x1.FEp127f : std::fabs(x));
  }
  return amax;
}

int ceil_log2(float ratio) {
  const int exponent = std::ilogb(ratio);
  return exponent + (ratio > std::ldexp(1.0f, exponent) ? 1 : 0);
}

// Nearest even, saturating at 448.
unsigned char e4m3fn_code(float x) {
  if (std::isnan(x)) return 0x7F;
  const int sign = std::signbit(x) ? 0x80 : 0;
  const float magnitude = std::fabs(x);
  if (magnitude >= 448.0f) return static_cast<unsigned char>(sign | 0x7E);
  const int exponent = std::max(std::ilogb(magnitude), -6);  // below 2^-6 the codes are evenly spaced
  const int eighths = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));
  return static_cast<unsigned char>(sign | ((exponent + 6) * 8 + eighths));
}

void store_flashmla(std::int64_t page_size, const unsigned char* row, Bytes page, std::int64_t slot) {
  const Bytes data = page + slot * 576, scales = page + page_size * 576 + slot * 8;
  for (int tile = 0; tile < 7; ++tile) {
    const int e = ceil_log2(floored_amax(row, 64 * tile, 64) / 448.0f);
    for (int i = 64 * tile; i < 64 * tile + 64; ++i) data[i] = e4m3fn_code(std::ldexp(bf16_value(row, i), -e));
    scales[tile] = static_cast<unsigned char>(e + 127);
  }
  std::memcpy(data + 448, row + 448 * 2, 64 * 2);
}

void store_indexer(std::int64_t page_size, const unsigned char* row, Bytes page, std::int64_t slot) {
  const float scale = floored_amax(row, 0, 128) / 448.0f, inverse = 1.0f / scale;
  for (int i = 0; i < 128; ++i) page[slot * 128 + i] = e4m3fn_code(bf16_value(row, i) * inverse);
  std::memcpy(page + page_size * 128 + slot * 4, &scale, 4);
}

std::int64_t index_of(const kvproof_store_call& call, std::int64_t token) {
  if (call.index_type == KVPROOF_INT64) return static_cast<const std::int64_t*>(call.index)[token];
  return static_cast<const std::int32_t*>(call.index)[token];
}

std::int32_t store(void*, const kvproof_store_call* call, const char** message) {
  if (call->size != sizeof *call || call->input_type != KVPROOF_BF16 || call->fp8_type != KVPROOF_E4M3FN) {
    *message = "expected a call of this header's size, bf16 input, e4m3fn codes";
    return KVPROOF_REFUSED;
  }
  const auto place = call->layout == KVPROOF_LAYOUT_FLASHMLA ? store_flashmla : store_indexer;
  const std::int64_t page_size = call->page_size, page_stride = call->page_stride;
  for (std::int64_t token = 0; token < call->tokens; ++token) {
    const auto* row = static_cast<const unsigned char*>(call->input) + token * call->input_row_stride;
    const std::int64_t index = index_of(*call, token);
    if (index < 0 || index >= call->pages * page_size) continue;
    place(page_size, row, static_cast<Bytes>(call->cache) + index / page_size * page_stride, index % page_size);
  }
  return KVPROOF_STORED;
}

}  // namespace

const kvproof_kernel* kvproof_kernels(std::uint32_t abi_version, std::size_t* count) {
  static kvproof_kernel kernel{};  // what stays zero: any page size, host memory
  kernel.size = sizeof kernel;
  kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_FLASHMLA) | KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
  kernel.name = "example";
  kernel.dialect = "strict";
  kernel.input_types = KVPROOF_SET(KVPROOF_BF16);
  kernel.index_types = KVPROOF_SET(KVPROOF_INT32) | KVPROOF_SET(KVPROOF_INT64);
  kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN);
  kernel.duplicates = KVPROOF_DUPLICATES_LAST;
  kernel.store = store;
  *count = 1;
  return abi_version == KVPROOF_ABI_VERSION ? &kernel : nullptr;
}
