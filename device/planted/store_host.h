// Running the steps on the host: token after token.
#pragma once

#include "kvproof/reference/dialects.h"
#include "planted/right.h"

namespace kvproof::planted {

template <class Steps>
std::int32_t store_on_host(void*, const kvproof_store_call* call, const char**) {
  const Layout layout = static_cast<Layout>(call->layout);
  const Call mine = call_of(*call, find_dialect("strict", layout)->dialect);
  for (std::int64_t token = 0; token < mine.shape.tokens; ++token) {
    store_token<Steps>(mine, token);
  }
  return KVPROOF_STORED;
}

}  // namespace kvproof::planted
