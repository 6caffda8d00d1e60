// What a frame carries, field by field, and reading it back without trust: every length is checked against what is there.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace kvproof {

// A frame that does not hold what it must: its sender is broken, or its memory was overwritten.
class BadMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class MessageWriter {
 public:
  template <class T>
  void value(const T& one) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* from = reinterpret_cast<const std::uint8_t*>(&one);
    bytes_.insert(bytes_.end(), from, from + sizeof one);
  }

  template <class T>
  void values(const std::vector<T>& all) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(static_cast<std::uint64_t>(all.size()));
    const auto* from = reinterpret_cast<const std::uint8_t*>(all.data());
    bytes_.insert(bytes_.end(), from, from + all.size() * sizeof(T));
  }

  void text(const std::string& all) {
    value(static_cast<std::uint64_t>(all.size()));
    bytes_.insert(bytes_.end(), all.begin(), all.end());
  }

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class MessageReader {
 public:
  explicit MessageReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  T value() {
    static_assert(std::is_trivially_copyable_v<T>);
    T one;
    std::memcpy(&one, take(sizeof one), sizeof one);
    return one;
  }

  // A number from 0 to `last`, as an enumeration has them.
  template <class Enum>
  Enum choice(Enum last) {
    const auto number = value<std::uint32_t>();
    if (number > static_cast<std::uint32_t>(last)) {
      throw BadMessage("a choice out of range");
    }
    return static_cast<Enum>(number);
  }

  // How many items follow, each of at least `smallest` bytes.
  std::size_t count(std::size_t smallest) {
    const auto items = value<std::uint64_t>();
    if (items > bytes_.size() / smallest) {
      throw BadMessage("more items than bytes");
    }
    return static_cast<std::size_t>(items);
  }

  template <class T>
  std::vector<T> values() {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(count(sizeof(T)));
    if (!all.empty()) {
      std::memcpy(all.data(), take(all.size() * sizeof(T)), all.size() * sizeof(T));
    }
    return all;
  }

  std::string text() {
    const std::size_t size = count(1);
    const std::uint8_t* from = take(size);
    return {from, from + size};
  }

  // Nothing may be left over.
  void end() const {
    if (!bytes_.empty()) {
      throw BadMessage("bytes left over");
    }
  }

 private:
  const std::uint8_t* take(std::size_t size) {
    if (size > bytes_.size()) {
      throw BadMessage("too short");
    }
    const std::uint8_t* from = bytes_.data();
    bytes_ = bytes_.subspan(size);
    return from;
  }

  std::span<const std::uint8_t> bytes_;
};

}  // namespace kvproof
