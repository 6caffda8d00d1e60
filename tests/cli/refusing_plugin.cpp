// Right kernels that refuse some calls, clearly: what they then hold has been tested on the others only.
#include <array>
#include <cstddef>

#include "kvproof/device/store_call.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/store.h"

namespace {

using namespace kvproof;

struct Refusal {
  const char* name;
  const char* words;
  bool (*refuses)(const StoreShape& shape, const std::uint8_t* index);
};

std::int64_t tight(const StoreShape& s) { return smallest_page_stride(s.layout, s.page_size); }

bool several_tokens(const StoreShape& s, const std::uint8_t*) { return s.tokens > 1; }
bool rows_apart(const StoreShape& s, const std::uint8_t*) { return s.row_stride != s.row_bytes(); }
bool wide_indices(const StoreShape& s, const std::uint8_t*) { return s.index_type == IndexType::int64; }
bool large_pools(const StoreShape& s, const std::uint8_t*) { return s.pool_bytes() > INT32_MAX; }
bool loose_pages(const StoreShape& s, const std::uint8_t*) { return s.page_stride != tight(s); }
bool tight_pages(const StoreShape& s, const std::uint8_t*) { return s.page_stride == tight(s); }
bool unaligned_pages(const StoreShape& s, const std::uint8_t*) { return s.page_stride % 4096 != 0; }
bool small_pages(const StoreShape& s, const std::uint8_t*) { return s.page_size < 256; }
bool slots_side_by_side(const StoreShape& s, const std::uint8_t*) { return s.page_size != 1; }
bool everything(const StoreShape&, const std::uint8_t*) { return true; }

bool invalid_indices(const StoreShape& s, const std::uint8_t* index) {
  for (std::int64_t token = 0; token < s.tokens; ++token) {
    const std::int64_t slot = index_at(index, s.index_type, token);
    if (slot < 0 || slot >= s.capacity()) {
      return true;
    }
  }
  return false;
}

constexpr std::array refusals{
    Refusal{"one_token", "one token a call", several_tokens},
    Refusal{"dense_rows", "rows lie apart", rows_apart},
    Refusal{"narrow_indices", "int64 indices", wide_indices},
    Refusal{"small_pools", "a pool beyond 2 GiB", large_pools},
    Refusal{"valid_indices", "an index outside of the pool", invalid_indices},
    Refusal{"tight_stride", "pages with a tail", loose_pages},
    Refusal{"padded_stride", "pages without a tail", tight_pages},
    Refusal{"aligned_stride", "pages not at multiples of 4,096 bytes", unaligned_pages},
    Refusal{"large_pages", "pages of less than 256 tokens", small_pages},
    Refusal{"single_slots", "pages of more than one token", slots_side_by_side},
    Refusal{"nothing", "whatever it is", everything},
};

std::int32_t store_or_refuse(void* state, const kvproof_store_call* call, const char** message) {
  const StoreShape s = shape_of(*call);
  const auto* index = static_cast<const std::uint8_t*>(call->index);
  const auto& refusal = *static_cast<const Refusal*>(state);
  if (refusal.refuses(s, index)) {
    *message = refusal.words;
    return KVPROOF_REFUSED;
  }
  auto* pool = static_cast<std::uint8_t*>(call->cache);
  store(s, find_dialect("strict", s.layout)->dialect, static_cast<const std::uint8_t*>(call->input), index,
        [pool](std::int64_t offset, std::uint8_t byte) { pool[offset] = byte; });
  return KVPROOF_STORED;
}

}  // namespace

const kvproof_kernel* kvproof_kernels(std::uint32_t abi_version, std::size_t* count) {
  static std::array<kvproof_kernel, refusals.size()> kernels{};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kvproof_kernel& kernel = kernels[i];
    kernel.size = sizeof kernel;
    kernel.name = refusals[i].name;
    kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_FLASHMLA) | KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
    kernel.dialect = "strict";
    kernel.input_types = KVPROOF_SET(KVPROOF_BF16);
    kernel.index_types = KVPROOF_SET(KVPROOF_INT32) | KVPROOF_SET(KVPROOF_INT64);
    kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN);
    kernel.duplicates = KVPROOF_DUPLICATES_LAST;
    kernel.store = store_or_refuse;
    kernel.state = const_cast<Refusal*>(&refusals[i]);
  }
  *count = kernels.size();
  return abi_version == KVPROOF_ABI_VERSION ? kernels.data() : nullptr;
}
