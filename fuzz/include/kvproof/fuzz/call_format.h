// The bytes of a fuzzed call, version 1. Any bytes are a call: missing ones read as zero, choices are taken modulo what
// there is to choose, and what is left over is not read. So no execution is spent on input that is no call.
//
//   0  version    4  fp8         8   page stride number, 16 bits    13  poison, 16 bits
//   1  kernel     5  page size   10  row stride class               15  tokens of 5 bytes each:
//   2  input type 6  pages       11  row stride number                    index class, number (16 bits), value class, row
//   3  index type 7  page stride 12  reserved
//
// Numbers are little-endian. The version is written and not looked at: it tells corpora of later formats apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvproof/fuzz/fuzz_call.h"

namespace kvproof::fuzz {

inline constexpr std::uint8_t call_format_version = 1;
inline constexpr std::size_t call_header_bytes = 15;
inline constexpr std::size_t call_token_bytes = 5;
inline constexpr std::size_t most_call_bytes = call_header_bytes + FuzzCall::most_tokens * call_token_bytes;

// Reuses what `call` holds.
void decode_call(std::span<const std::uint8_t> bytes, FuzzCall& call);

inline FuzzCall decoded_call(std::span<const std::uint8_t> bytes) {
  FuzzCall call;
  decode_call(bytes, call);
  return call;
}

// Writes at most as many tokens as `to` has room for; returns the bytes written, 0 where not even the header fits.
std::size_t encode_call(const FuzzCall& call, std::span<std::uint8_t> to);

std::vector<std::uint8_t> encoded_call(const FuzzCall& call);

}  // namespace kvproof::fuzz
