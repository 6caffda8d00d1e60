// A store call as the planted kernels take it: plain data for host and device.
#pragma once

#include "kvproof/device/store_call.h"
#include "kvproof/reference/store.h"

namespace kvproof::planted {

struct Call {
  StoreShape shape;
  Dialect dialect;
  const std::uint8_t* input;
  const std::uint8_t* indices;
  std::uint8_t* pool;
  std::int64_t given;      // tokens that the caller gave
  std::int64_t launch;     // calls of this kernel before this one, in this process
  std::uint32_t* scratch;  // of the kernels that keep some
};

inline Call call_of(const kvproof_store_call& from, const Dialect& dialect, std::int64_t launch) {
  Call call{};
  call.shape = shape_of(from);
  call.dialect = dialect;
  call.input = static_cast<const std::uint8_t*>(from.input);
  call.indices = static_cast<const std::uint8_t*>(from.index);
  call.pool = static_cast<std::uint8_t*>(from.cache);
  call.given = from.tokens;
  call.launch = launch;
  return call;
}

}  // namespace kvproof::planted
