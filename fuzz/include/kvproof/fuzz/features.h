// Semantic coverage: what a call exercises, as numbered features. It needs no look into the kernel, so that a black-box
// plug-in and a kernel on a GPU are guided too.
#pragma once

#include <cstdint>
#include <vector>

#include "kvproof/fuzz/fuzz_call.h"
#include "kvproof/properties/case.h"
#include "kvproof/reference/dialect.h"

namespace kvproof::fuzz {

// Features are below this.
inline constexpr std::size_t feature_count = 2048;

// Replaces `features` with those of a case made of `call`; some may stand there more than once.
void features_of(const FuzzCall& call, const Case& c, const Dialect& dialect, std::vector<std::uint16_t>& features);

}  // namespace kvproof::fuzz
