// The named shapes on the host.
#include "shapes.h"

#include <algorithm>

namespace kvproof {
namespace {

void copy_bytes(std::uint8_t* to, const std::uint8_t* from, std::int64_t count, void*) { std::copy_n(from, count, to); }
void flip_bits(std::uint8_t* at, std::uint8_t bits, void*) { *at ^= bits; }

INSTANTIATE_TEST_SUITE_P(Host, Shapes,
                         testing::Values(Machine{"host", host_memory, builtin_host_subjects, copy_bytes, flip_bits, false}));

}  // namespace
}  // namespace kvproof
