// A small, fast source of draws, seeded by RapidCheck: a case of 200 tokens needs 100,000 of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace kvproof {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }

  // 0 to count - 1; count > 0.
  std::int64_t below(std::int64_t count) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(count)); }

  // from to to, both possible.
  std::int64_t between(std::int64_t from, std::int64_t to) { return from + below(to - from + 1); }

  bool one_in(std::int64_t count) { return below(count) == 0; }

  template <class T>
  T of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<std::int64_t>(choices.size())))];
  }

  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::int64_t>(choices.size()))];
  }

  // The position of a weight, drawn in proportion to the weights.
  std::size_t weighted(std::span<const int> weights) {
    std::int64_t total = 0;
    for (const int weight : weights) {
      total += weight;
    }
    std::int64_t at = below(total);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      at -= weights[i];
      if (at < 0) {
        return i;
      }
    }
    return weights.size() - 1;
  }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace kvproof
