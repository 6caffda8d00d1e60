#include "pool_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

#include "kvproof/device/store_call.h"
#include "kvproof/reference/model.h"
#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

// Bytes on each side of the pool: a page and more, so that what an unguarded index does is seen and harms nothing.
std::int64_t margin_of(const StoreShape& shape) { return (shape.page_stride + 4096 + 255) / 256 * 256; }

// Device memory that goes back when a comparison ends.
class Buffer {
 public:
  Buffer(Memory& memory, std::int64_t bytes)
      : memory_(memory), at_(static_cast<std::uint8_t*>(memory.allocate(static_cast<std::uint64_t>(bytes)))) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { memory_.release(at_); }
  std::uint8_t* at() const { return at_; }

 private:
  Memory& memory_;
  std::uint8_t* at_;
};

// The bytes from -margin on, poisoned.
std::vector<std::uint8_t> poisoned(const Poison& poison, std::int64_t margin, std::int64_t bytes) {
  std::vector<std::uint8_t> pool(static_cast<std::size_t>(bytes));
  for (std::int64_t word = 0; word < bytes / 8; ++word) {
    const std::uint64_t value = poison_word(poison, word - margin / 8);
    std::memcpy(pool.data() + 8 * word, &value, 8);
  }
  for (std::int64_t i = bytes / 8 * 8; i < bytes; ++i) {
    pool[static_cast<std::size_t>(i)] = poison_byte(poison, i - margin);
  }
  return pool;
}

std::string describe(const Trial& trial, std::int64_t offset, int expected, int found) {
  const StoreShape& shape = trial.shape;
  std::string place = offset < 0 ? "before the pool" : "behind the pool";
  if (offset >= 0 && offset < shape.pool_bytes()) {
    const PagePlace at = place_in_page(shape.layout, shape.page_size, offset % shape.page_stride);
    place = fmt::format("page {} {} slot {} tile {} element {}", offset / shape.page_stride, name_of(at.region), at.slot,
                        at.tile, at.element);
  }
  return fmt::format("byte {} ({}): expected {:#04x}, found {:#04x}; {} {} {} P {} stride {} rows {} offsets {} {} {}",
                     offset, place, expected, found, name_of(shape.layout), name_of(shape.input_type), name_of(shape.fp8),
                     shape.page_size, shape.page_stride, shape.row_stride, trial.cache_offset, trial.input_offset,
                     trial.index_offset);
}

// One tile's elements: most tiles stay in a band below one exponent, as real rows do; the rest hold the odd values.
struct TileDraw {
  int kind;
  std::uint32_t exponent;
};

std::uint32_t draw_f32(const TileDraw& tile, std::mt19937_64& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t sign = bits & 0x80000000U;
  const auto roll = static_cast<std::uint32_t>(random() % 64);
  if (tile.kind == 0) {
    return bits;
  }
  if (tile.kind == 1) {
    return sign | (roll < 60 ? 0U : (bits & 0x007FFFFFU));
  }
  if (tile.kind == 2 && roll < 4) {
    return sign | 0x7F800000U | (roll < 2 ? 0U : std::max(bits & 0x007FFFFFU, 0x00010000U));
  }
  if (tile.kind == 3 && roll < 4) {
    return sign | (tile.exponent << 23) | 0x00600000U;  // 1.75 * 2^k, the edge of a UE8M0 binade
  }
  const std::uint32_t drop = std::min(tile.exponent, static_cast<std::uint32_t>(random() % 14));
  return sign | ((tile.exponent - drop) << 23) | (bits & 0x007FFFFFU);
}

// The same value, cut to the element type. Bands that a half cannot hold are moved to where it can.
std::uint32_t draw_element(const TileDraw& tile, ElementType type, std::mt19937_64& random) {
  const std::uint32_t bits = draw_f32(tile, random);
  if (type == ElementType::fp32) {
    return bits;
  }
  if (type == ElementType::bf16) {
    return bits >> 16;
  }
  const std::uint32_t field = (bits >> 23) & 0xFFU;
  return ((bits >> 16) & 0x8000U) | ((field == 0xFF ? 0x1FU : field % 0x1FU) << 10) | ((bits >> 13) & 0x3FFU);
}

void fill_input(Trial* trial, std::mt19937_64& random) {
  const StoreShape& shape = trial->shape;
  const LayoutShape layout = layout_shape(shape.layout);
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    for (int i = 0; i < layout.row_values; i += layout.tile) {
      const TileDraw tile{static_cast<int>(random() % 8), static_cast<std::uint32_t>(random() % 255)};
      for (int k = 0; k < layout.tile; ++k) {
        append_element(trial->input, draw_element(tile, shape.input_type, random), shape.input_type);
      }
    }
    if (token + 1 < shape.tokens) {
      trial->input.resize(static_cast<std::size_t>((token + 1) * shape.row_stride), 0xA5);
    }
  }
}

void fill_indices(Trial* trial, std::mt19937_64& random) {
  const StoreShape& shape = trial->shape;
  std::vector<std::int64_t> slots(static_cast<std::size_t>(shape.capacity()));
  std::iota(slots.begin(), slots.end(), 0);
  std::shuffle(slots.begin(), slots.end(), random);
  const std::int64_t capacity = shape.capacity();
  const std::array<std::int64_t, 8> outside{-1,           -2,        -shape.page_size, capacity,
                                            capacity + 1, INT32_MIN, INT64_MIN + 1,    (std::int64_t{1} << 32) + 1};
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    std::int64_t index = slots[static_cast<std::size_t>(token)];
    if (random() % 5 == 0) {
      const std::size_t wide = shape.index_type == IndexType::int64 ? 8 : 6;
      index = outside[random() % wide];
    }
    append_index(trial->indices, index, shape.index_type);
  }
}

}  // namespace

Compared& compared() {
  static Compared counts;
  return counts;
}

Dialect guarded(Dialect dialect) {
  if (dialect.invalid != InvalidIndex::non_positive) {
    dialect.invalid = InvalidIndex::outside;
  }
  dialect.index_width = Width::bits64;
  dialect.offset_width = Width::bits64;
  return dialect;
}

kvproof_store_call store_call(const Trial& trial, void* cache, const void* input, const void* index) {
  return store_call(trial.shape, cache, input, index, nullptr);
}

std::string difference(const Subject& subject, const Trial& trial, Memory& memory) {
  const StoreShape& shape = trial.shape;
  const std::int64_t margin = margin_of(shape);
  const std::int64_t bytes = shape.pool_bytes() + 2 * margin;
  std::vector<std::uint8_t> expected = poisoned(trial.poison, margin, bytes);
  std::vector<std::uint8_t> found = expected;

  const Buffer pool(memory, bytes + trial.cache_offset);
  const Buffer input(memory, shape.input_bytes() + trial.input_offset + 16);
  const Buffer index(memory, shape.indices_bytes() + trial.index_offset + 16);
  memory.copy_in(pool.at() + trial.cache_offset, found.data(), found.size());
  if (shape.tokens > 0) {
    memory.copy_in(input.at() + trial.input_offset, trial.input.data(), trial.input.size());
    memory.copy_in(index.at() + trial.index_offset, trial.indices.data(), trial.indices.size());
  }
  kvproof_store_call call = store_call(trial, pool.at() + trial.cache_offset + margin, input.at() + trial.input_offset,
                                       index.at() + trial.index_offset);
  call.stream = memory.stream();
  const char* message = nullptr;
  const std::int32_t status = subject.store(subject.state, &call, &message);
  if (status != KVPROOF_STORED) {
    return fmt::format("{} returned {}: {}", subject.title(), status, message == nullptr ? "" : message);
  }
  memory.synchronize();
  memory.copy_out(found.data(), pool.at() + trial.cache_offset, found.size());

  model::store(shape, guarded(trial.dialect), trial.input.data(), trial.indices.data(), expected.data() + margin);
  compared().bytes += bytes;
  compared().pairs += shape.tokens * layout_shape(shape.layout).codes;
  if (std::memcmp(expected.data(), found.data(), found.size()) == 0) {
    return {};
  }
  const auto wrong = std::mismatch(expected.begin(), expected.end(), found.begin());
  return subject.title() + ": " + describe(trial, wrong.first - expected.begin() - margin, *wrong.first, *wrong.second);
}

Trial dense_trial(const Dialect& dialect, Fp8 fp8, ElementType type, std::int64_t tokens, std::int64_t page_size) {
  Trial trial;
  trial.dialect = dialect;
  trial.shape.layout = dialect.layout;
  trial.shape.input_type = type;
  trial.shape.fp8 = fp8;
  trial.shape.tokens = tokens;
  trial.shape.page_size = page_size;
  trial.shape.pages = (tokens + page_size - 1) / page_size;
  trial.shape.page_stride = production_page_stride(dialect.layout, page_size);
  trial.shape.row_stride = trial.shape.row_bytes();
  trial.poison.seed = 0x5EED;
  return trial;
}

void append_element(std::vector<std::uint8_t>& bytes, std::uint32_t bits, ElementType type) {
  for (int i = 0; i < element_bytes(type); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  }
}

void append_index(std::vector<std::uint8_t>& bytes, std::int64_t index, IndexType type) {
  for (int i = 0; i < index_bytes(type); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(index) >> (8 * i)));
  }
}

void number_indices(Trial* trial) {
  for (std::int64_t token = 0; token < trial->shape.tokens; ++token) {
    append_index(trial->indices, token, trial->shape.index_type);
  }
}

Trial random_trial(const Dialect& dialect, Fp8 fp8, ElementType type, std::mt19937_64& random) {
  constexpr std::array<std::int64_t, 9> page_sizes{1, 2, 3, 5, 7, 48, 64, 100, 256};
  constexpr std::array<std::int64_t, 8> strides{0, 0, 16, 8, 4, 2, 1, 1000};  // beyond the smallest
  constexpr std::array<std::int64_t, 8> offsets{0, 0, 16, 8, 4, 2, 1, 3};
  Trial trial = dense_trial(dialect, fp8, type, 0, page_sizes[random() % page_sizes.size()]);
  StoreShape& shape = trial.shape;
  shape.index_type = random() % 2 == 0 ? IndexType::int32 : IndexType::int64;
  shape.pages = 1 + static_cast<std::int64_t>(random() % 4);
  shape.tokens =
      static_cast<std::int64_t>(random() % (std::min<std::uint64_t>(40, static_cast<std::uint64_t>(shape.capacity())) + 1));
  if (random() % 3 != 0) {
    shape.page_stride = smallest_page_stride(shape.layout, shape.page_size) + strides[random() % strides.size()];
  }
  shape.row_stride += strides[random() % strides.size()];
  trial.cache_offset = offsets[random() % offsets.size()];
  trial.input_offset = offsets[random() % offsets.size()];
  trial.index_offset = offsets[random() % offsets.size()];
  trial.poison = {random(), random() % 2 == 0};
  fill_input(&trial, random);
  fill_indices(&trial, random);
  return trial;
}

}  // namespace kvproof
