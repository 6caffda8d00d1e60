// A catalogue of planted defects that is wrong twice: a right kernel that is said to be planted, and a wrong one that is
// not.
#include "kvproof/device/store_call.h"
#include "kvproof/planted.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/store.h"

namespace {

using namespace kvproof;

std::int32_t store_right(void*, const kvproof_store_call* call, const char**) {
  const StoreShape s = shape_of(*call);
  auto* pool = static_cast<std::uint8_t*>(call->cache);
  store(s, find_dialect("strict", Layout::indexer)->dialect, static_cast<const std::uint8_t*>(call->input),
        static_cast<const std::uint8_t*>(call->index),
        [pool](std::int64_t offset, std::uint8_t byte) { pool[offset] = byte; });
  return KVPROOF_STORED;
}

std::int32_t store_wrong(void* state, const kvproof_store_call* call, const char** message) {
  const std::int32_t status = store_right(state, call, message);
  static_cast<std::uint8_t*>(call->cache)[0] ^= 1;
  return status;
}

}  // namespace

const kvproof_kernel* kvproof_kernels(std::uint32_t abi_version, std::size_t* count) {
  static kvproof_kernel kernels[2]{};
  for (kvproof_kernel& kernel : kernels) {
    kernel.size = sizeof kernel;
    kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
    kernel.dialect = "strict";
    kernel.input_types = KVPROOF_SET(KVPROOF_BF16);
    kernel.index_types = KVPROOF_SET(KVPROOF_INT32) | KVPROOF_SET(KVPROOF_INT64);
    kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN);
    kernel.duplicates = KVPROOF_DUPLICATES_LAST;
  }
  kernels[0].name = "blameless";
  kernels[0].store = store_right;
  kernels[1].name = "unlisted";
  kernels[1].store = store_wrong;
  *count = 2;
  return abi_version == KVPROOF_ABI_VERSION ? kernels : nullptr;
}

const kvproof_planted_defect* kvproof_planted_defects(std::size_t* count) {
  constexpr std::uint32_t host = KVPROOF_SET(KVPROOF_MEMORY_HOST);
  static const kvproof_planted_defect defects[]{
      {sizeof(kvproof_planted_defect), KVPROOF_DEFECT_ADDRESS, "blameless", "none at all", "", "", host, 0},
      {sizeof(kvproof_planted_defect), KVPROOF_DEFECT_ADDRESS, "missing", "has no kernel", "", "", host, 0},
  };
  *count = 2;
  return defects;
}
