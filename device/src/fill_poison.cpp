#include "fill_poison.h"

#include <bit>
#include <cstring>

namespace kvproof {

static_assert(std::endian::native == std::endian::little, "poison words and index bytes are laid out little-endian");

void fill_poison(const Poison& poison, std::int64_t offset, std::uint8_t* to, std::int64_t count) {
  std::int64_t i = 0;
  for (; i < count && ((offset + i) & 7) != 0; ++i) {
    to[i] = poison_byte(poison, offset + i);
  }
  for (; i + 8 <= count; i += 8) {
    const std::uint64_t word = poison_word(poison, (offset + i) >> 3);
    std::memcpy(to + i, &word, sizeof word);
  }
  for (; i < count; ++i) {
    to[i] = poison_byte(poison, offset + i);
  }
}

void fill_guards(const Poison& poison, const GuardedSpan& span) {
  fill_poison(poison, -span.before, span.begin(), span.before);
  fill_poison(poison, span.size, span.data + span.size, span.after);
}

}  // namespace kvproof
