// Plug-ins that must not load, one a value of MALFORMED.
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "kvproof/kernel.h"

namespace {

[[maybe_unused]] std::int32_t store(void*, const kvproof_store_call*, const char**) { return KVPROOF_STORED; }

[[maybe_unused]] kvproof_kernel good() {
  kvproof_kernel kernel{};
  kernel.size = sizeof kernel;
  kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_FLASHMLA);
  kernel.name = "malformed";
  kernel.dialect = "strict";
  kernel.input_types = KVPROOF_SET(KVPROOF_BF16);
  kernel.index_types = KVPROOF_SET(KVPROOF_INT64);
  kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN);
  kernel.store = store;
  return kernel;
}

}  // namespace

#define NO_SYMBOL 1
#define OTHER_VERSION 2
#define NO_KERNELS 3
#define THROWS 4
#define THROWS_UNKNOWN 5
#define OTHER_SIZE 6
#define CONTRADICTS 7

#if MALFORMED == NO_SYMBOL
extern "C" KVPROOF_EXPORT int another_symbol() { return 0; }
#else
const kvproof_kernel* kvproof_kernels([[maybe_unused]] std::uint32_t abi_version, std::size_t* count) {
  static kvproof_kernel kernel = good();
  *count = 1;
#if MALFORMED == OTHER_VERSION
  return abi_version == KVPROOF_ABI_VERSION + 1 ? &kernel : nullptr;
#elif MALFORMED == NO_KERNELS
  *count = 0;
#elif MALFORMED == THROWS
  throw std::runtime_error("no such accelerator");
#elif MALFORMED == THROWS_UNKNOWN
  throw 7;
#elif MALFORMED == OTHER_SIZE
  kernel.size -= 8;
#elif MALFORMED == CONTRADICTS
  kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
  kernel.dialect = "vllm-cuda";
#endif
  return &kernel;
}
#endif
