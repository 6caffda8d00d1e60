// The production indexer store on the host, in every dialect, on exact-size heap allocations, against the model.
#include "store_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static kvproof::fuzz::StoreTarget target(kvproof::Layout::indexer);
  target.run({data, size});
  return 0;
}
