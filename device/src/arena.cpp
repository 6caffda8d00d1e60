#include "kvproof/device/arena.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kvproof/device/error.h"

namespace kvproof {
namespace {

static_assert(std::endian::native == std::endian::little, "poison words and index bytes are laid out little-endian");

constexpr std::int64_t smallest_pool_guard = 64 * 1024;
constexpr std::int64_t data_guard = 4 * 1024;  // of input and indices
constexpr std::int64_t guard_unit = 256;       // keeps the buffer's own alignment

// Poisons `count` bytes from `offset` on; both may be odd.
void fill(const Poison& poison, std::int64_t offset, std::uint8_t* to, std::int64_t count) {
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

GuardedBytes poisoned(const Poison& poison, std::int64_t guard, std::int64_t size) {
  GuardedBytes result;
  result.guard = guard;
  result.bytes.resize(static_cast<std::size_t>(size + 2 * guard));
  fill(poison, -guard, result.bytes.data(), size + 2 * guard);
  return result;
}

GuardedBytes guarded(const Poison& poison, std::span<const std::uint8_t> data) {
  GuardedBytes result;
  result.guard = data_guard;
  const auto size = static_cast<std::int64_t>(data.size());
  result.bytes.resize(data.size() + 2 * data_guard);
  fill(poison, -data_guard, result.bytes.data(), data_guard);
  std::copy(data.begin(), data.end(), result.bytes.begin() + data_guard);
  fill(poison, size, result.bytes.data() + data_guard + size, data_guard);
  return result;
}

Poison reseeded(const Poison& poison, std::uint64_t salt) { return {poison.seed ^ salt, poison.complement}; }

}  // namespace

Poison pool_poison(const Poison& poison) { return poison; }
Poison input_poison(const Poison& poison) { return reseeded(poison, 0x696E707574ULL); }
Poison indices_poison(const Poison& poison) { return reseeded(poison, 0x696E6469636573ULL); }

Arena::Arena(std::unique_ptr<Memory> memory) : memory_(std::move(memory)) {}

Arena::~Arena() {
  for (Buffer* buffer : {&pool_, &input_, &indices_}) {
    if (buffer->pointer != nullptr) {
      memory_->release(buffer->pointer);
    }
  }
}

std::int64_t Arena::pool_guard(const StoreShape& shape) {
  const std::int64_t wanted = std::max(smallest_pool_guard, 2 * shape.page_stride);
  return (wanted + guard_unit - 1) / guard_unit * guard_unit;
}

std::uint8_t* Arena::prepare(Buffer& buffer, const GuardedBytes& initial) {
  const std::uint64_t bytes = initial.bytes.size();
  if (buffer.capacity < bytes) {
    if (buffer.pointer != nullptr) {
      memory_->release(buffer.pointer);
      buffer = {};
    }
    const std::uint64_t capacity = std::bit_ceil(bytes);
    buffer.pointer = memory_->allocate(capacity);
    buffer.capacity = capacity;
  }
  memory_->copy_in(buffer.pointer, initial.bytes.data(), bytes);
  return static_cast<std::uint8_t*>(buffer.pointer) + initial.guard;
}

void Arena::collect(const Buffer& buffer, GuardedBytes& bytes) {
  memory_->copy_out(bytes.bytes.data(), buffer.pointer, bytes.bytes.size());
}

Observation Arena::run(const Subject& subject, const StoreShape& shape, std::span<const std::uint8_t> input,
                       std::span<const std::uint8_t> indices, const Poison& poison) {
  Observation seen;
  seen.poison = poison;
  seen.pool = poisoned(pool_poison(poison), pool_guard(shape), shape.pool_bytes());
  seen.input = guarded(input_poison(poison), input);
  seen.indices = guarded(indices_poison(poison), indices);

  kvproof_store_call call{};
  call.size = sizeof call;
  call.layout = static_cast<std::uint32_t>(shape.layout);
  call.input = prepare(input_, seen.input);
  call.input_type = static_cast<std::uint32_t>(shape.input_type);
  call.index_type = static_cast<std::uint32_t>(shape.index_type);
  call.tokens = shape.tokens;
  call.input_row_stride = shape.row_stride;
  call.cache = prepare(pool_, seen.pool);
  call.pages = shape.pages;
  call.page_stride = shape.page_stride;
  call.page_size = static_cast<std::int32_t>(shape.page_size);
  call.fp8_type = static_cast<std::uint32_t>(shape.fp8);
  call.index = prepare(indices_, seen.indices);
  call.stream = memory_->stream();

  const char* message = nullptr;
  const std::int32_t status = subject.store(subject.state, &call, &message);
  seen.message = message != nullptr ? message : "";
  memory_->synchronize();
  switch (status) {
    case KVPROOF_STORED:
      seen.outcome = Outcome::stored;
      break;
    case KVPROOF_REFUSED:
      seen.outcome = Outcome::refused;
      break;
    default:
      seen.outcome = Outcome::failed;
      if (seen.message.empty()) {
        seen.message = "status " + std::to_string(status) + " without a message";
      }
      break;
  }
  collect(pool_, seen.pool);
  collect(input_, seen.input);
  collect(indices_, seen.indices);
  return seen;
}

}  // namespace kvproof
