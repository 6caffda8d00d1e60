// libFuzzer's mutator and crossover on calls instead of bytes. Linked by the targets whose input is a call.
#include <algorithm>

#include "kvproof/fuzz/call_format.h"
#include "kvproof/fuzz/mutate.h"

namespace fuzz = kvproof::fuzz;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  kvproof::Draw draw(seed);
  fuzz::FuzzCall call = fuzz::decoded_call({data, size});
  fuzz::mutate(draw, call);
  return fuzz::encode_call(call, {data, most});
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1, const std::uint8_t* data2,
                                                 std::size_t size2, std::uint8_t* out, std::size_t most, unsigned seed) {
  kvproof::Draw draw(seed);
  const fuzz::FuzzCall child = fuzz::crossed(draw, fuzz::decoded_call({data1, size1}), fuzz::decoded_call({data2, size2}));
  return fuzz::encode_call(child, {out, most});
}
