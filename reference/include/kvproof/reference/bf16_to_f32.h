// bf16 to binary32: exact, the bf16 is the upper half.
#pragma once

#include "kvproof/reference/f32.h"

namespace kvproof {

KVPROOF_HD constexpr F32 bf16_to_f32(std::uint16_t bits) { return static_cast<F32>(bits) << 16; }

}  // namespace kvproof
