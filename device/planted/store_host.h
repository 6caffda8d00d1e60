// Running the steps on the host: token after token.
#pragma once

#include "planted/descriptors.h"

namespace kvproof::planted {

template <class Steps>
std::int32_t store_on_host(void*, const kvproof_store_call* from, const char** message) {
  static std::int64_t launch = 0;
  Call call = call_of(*from, dialect_of<Steps>(static_cast<Layout>(from->layout)), launch++);
  Steps::launched(&call);
  if (!Steps::launches(call)) {
    *message = "launch: invalid configuration argument";
    return KVPROOF_FAILED;
  }
  for (std::int64_t turn = 0; turn < call.shape.tokens; ++turn) {
    store_token<Steps>(call, turn);
  }
  return KVPROOF_STORED;
}

template <class Steps>
void add_on_host(std::vector<kvproof_kernel>& kernels) {
  if constexpr ((Steps::machines & on_host) != 0) {
    kernels.push_back(descriptor<Steps>(KVPROOF_MEMORY_HOST, &store_on_host<Steps>));
  }
}

template <class... All>
void add_all_on_host(std::vector<kvproof_kernel>& kernels, List<All...>) {
  (add_on_host<All>(kernels), ...);
}

}  // namespace kvproof::planted
