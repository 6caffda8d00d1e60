// An indexer kernel whose reciprocal is one ulp high and who declares it, and the same one undeclared.
#include <algorithm>

#include "kvproof/kernel.h"
#include "kvproof/reference/declared_error.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/store.h"

namespace {

using namespace kvproof;

std::int32_t store_one_ulp_high(void*, const kvproof_store_call* call, const char**) {
  const Dialect& dialect = find_dialect("sglang-triton", Layout::indexer)->dialect;
  StoreShape s;
  s.layout = Layout::indexer;
  s.page_size = call->page_size;
  s.page_stride = call->page_stride;
  for (std::int64_t token = 0; token < call->tokens; ++token) {
    const auto* row = static_cast<const std::uint8_t*>(call->input) + token * call->input_row_stride;
    RowImage image;
    encode_row(row, ElementType::bf16, dialect, Fp8::e4m3fn, &image);
    const F32 stored = image.scales[0] | image.scales[1] << 8 | image.scales[2] << 16 | F32{image.scales[3]} << 24;
    TileScale scale{stored, f32_divide(0x3F800000U, stored), 0, false};
    scale.operand = f32_is_finite(stored) ? f32_neighbour(scale.operand, 1) : scale.operand;
    for (int i = 0; i < 128; ++i) {
      const F32 x = element_to_f32(element_bits(row, ElementType::bf16, i), ElementType::bf16);
      image.data[i] = quantise(x, scale, dialect, Fp8::e4m3fn, fp8_limit_code(Fp8::e4m3fn, 448));
    }
    const std::int64_t index =
        index_at(static_cast<const std::uint8_t*>(call->index), static_cast<IndexType>(call->index_type), token);
    const Location at = locate(index, call->pages, call->page_size, dialect);
    auto* pool = static_cast<std::uint8_t*>(call->cache);
    place_row(image, at, s, dialect, [pool](std::int64_t offset, std::uint8_t byte) { pool[offset] = byte; });
  }
  return KVPROOF_STORED;
}

}  // namespace

const kvproof_kernel* kvproof_kernels(std::uint32_t abi_version, std::size_t* count) {
  static kvproof_dialect undeclared{};
  undeclared = {sizeof undeclared,
                1,
                find_dialect("sglang-triton", Layout::indexer)->dialect.floor_value,
                1,
                1,
                1,
                240,
                0,
                1,
                1,
                0,
                1,
                2,
                3,
                0};
  static kvproof_kernel kernels[2]{};
  for (kvproof_kernel& kernel : kernels) {
    kernel.size = sizeof kernel;
    kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
    kernel.input_types = KVPROOF_SET(KVPROOF_BF16);
    kernel.index_types = KVPROOF_SET(KVPROOF_INT32) | KVPROOF_SET(KVPROOF_INT64);
    kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN);
    kernel.duplicates = KVPROOF_DUPLICATES_LAST;
    kernel.store = store_one_ulp_high;
  }
  kernels[0].name = "declared";
  kernels[0].dialect = "sglang-triton";
  kernels[1].name = "undeclared";
  kernels[1].fields = &undeclared;
  *count = 2;
  return abi_version == KVPROOF_ABI_VERSION ? kernels : nullptr;
}
