// Kernels that do not come back as they should.
#pragma once

#include <cstdlib>

#include "planted/right.h"

namespace kvproof::planted {

struct Ending : Right {
  static constexpr Kind kind = Kind::batch;
};

struct EndlessLoop : Ending {
  static constexpr const char* name = "endless-loop";
  static constexpr const char* defect = "never returns";
  KVPROOF_HD static void before(const Call& call, std::int64_t) {
    const volatile std::uint8_t* watched = call.indices;
    std::uint8_t seen = 0;
    do {
      seen = watched[0];
    } while (seen == watched[0]);  // nobody changes it
  }
};

// An address that no arena maps.
struct IllegalAddress : Right {
  static constexpr Kind kind = Kind::address;
  static constexpr const char* name = "illegal-address";
  static constexpr const char* defect = "writes to an address that is no one's";
  KVPROOF_HD static void before(const Call& call, std::int64_t) {
    // Not a constant, so that no compiler knows better.
    const std::uintptr_t address = 64 + static_cast<std::uintptr_t>(call.shape.pages > 0 ? 0 : 1);
    *reinterpret_cast<volatile std::uint8_t*>(address) = 1;
  }
};

// On the GPU the device-side trap takes the place of abort.
struct Abort : Ending {
  static constexpr const char* name = "abort";
  static constexpr const char* defect = "aborts in the first token";
  KVPROOF_HD static void before(const Call&, std::int64_t) {
#if defined(__CUDA_ARCH__)
    __trap();
#else
    std::abort();
#endif
  }
};

}  // namespace kvproof::planted
