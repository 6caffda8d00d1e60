// FNV-1a of 64 bits: one number for the same bytes on every machine, for the names of files and the seeds of draws.
#pragma once

#include <cstdint>
#include <string_view>

namespace kvproof {

inline constexpr std::uint64_t fnv1a_start = 0xCBF29CE484222325ULL;

// Of a text or of bytes.
template <class Bytes>
constexpr std::uint64_t fnv1a(const Bytes& bytes, std::uint64_t start = fnv1a_start) {
  std::uint64_t hash = start;
  for (const auto byte : bytes) {
    hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001B3ULL;
  }
  return hash;
}

// As it is published: names of files that others have must not change.
static_assert(fnv1a(std::string_view("foobar")) == 0x85944171F73967E8ULL);

}  // namespace kvproof
