// Semantic coverage for libFuzzer: it reads and clears this section's counters beside those of the compiler.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kvproof/fuzz/features.h"

namespace kvproof::fuzz {

#if defined(__linux__)
[[gnu::section("__libfuzzer_extra_counters")]]
#endif
inline std::array<std::uint8_t, feature_count>
    extra_counters{};

inline void count_features(const FuzzCall& call, const Case& c, const Dialect& dialect) {
  static std::vector<std::uint16_t> features;
  features_of(call, c, dialect, features);
  for (const std::uint16_t feature : features) {
    extra_counters[feature] = 1;
  }
}

}  // namespace kvproof::fuzz
