// Device memory that outlives a launch, for the defects that are about it.
#pragma once

#include <cstdint>

namespace kvproof::planted {

inline constexpr std::int64_t scratch_words = std::int64_t{1} << 19;

// `scratch_words` words in memory of the device, each UINT32_MAX at first. Made at the first call, and kept: not while a
// stream is captured. Null where there is no memory left.
std::uint32_t* new_scratch();

}  // namespace kvproof::planted
