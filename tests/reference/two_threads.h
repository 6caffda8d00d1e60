// All 2^32 patterns, in blocks, on two threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace kvproof {

inline constexpr std::uint64_t all_patterns = std::uint64_t{1} << 32;

// Calls work(first pattern, count) until every pattern was in one call. A block never crosses a sign or an exponent.
template <class Work>
void for_all_patterns(Work work) {
  constexpr std::uint64_t block = 1U << 20;
  std::atomic<std::uint64_t> next{0};
  const auto run = [&] {
    for (std::uint64_t first = next.fetch_add(block); first < all_patterns; first = next.fetch_add(block)) {
      work(static_cast<std::uint32_t>(first), block);
    }
  };
  std::thread other(run);
  run();
  other.join();
}

// Counts what was compared and keeps the first difference that it is told of.
class Tally {
 public:
  void count(std::uint64_t compared) { compared_ += compared; }
  void difference(std::uint32_t pattern) {
    if (differences_.fetch_add(1) == 0) {
      first_ = pattern;
    }
  }
  std::uint64_t compared() const { return compared_; }
  std::uint64_t differences() const { return differences_; }
  std::uint32_t first() const { return first_; }

 private:
  std::atomic<std::uint64_t> compared_{0};
  std::atomic<std::uint64_t> differences_{0};
  std::atomic<std::uint32_t> first_{0};
};

}  // namespace kvproof
