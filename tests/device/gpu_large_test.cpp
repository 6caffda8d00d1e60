// Batches of production size and beyond on the GPU: more than 65,535 blocks compared byte for byte, duplicates counted, and
// the kernel's speed beside that of a device copy in the same run.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <stdexcept>

#include "pool_comparison.h"

namespace kvproof {
namespace {

void require(cudaError_t status) {
  if (status != cudaSuccess) {
    throw std::runtime_error(cudaGetErrorString(status));
  }
}

Subject strict(Layout layout) {
  for (const Subject& subject : builtin_cuda_subjects()) {
    if (subject.dialect_name == "strict" && subject.dialect.layout == layout) {
      return subject;
    }
  }
  throw std::runtime_error("no strict kernel");
}

// Finite bf16 rows of magnitude below 2, to slots in random order or in the tokens' own.
Trial large_trial(Layout layout, std::int64_t tokens, bool in_order = false) {
  Trial trial = dense_trial(strict(layout).dialect, Fp8::e4m3fn, ElementType::bf16, tokens, 64);
  std::mt19937_64 random(3);
  trial.input.resize(static_cast<std::size_t>(trial.shape.input_bytes()));
  for (std::size_t at = 0; at < trial.input.size(); at += 8) {
    const std::uint64_t four = random() & 0xBFFFBFFFBFFFBFFFULL;
    std::memcpy(trial.input.data() + at, &four, 8);
  }
  std::vector<std::int64_t> slots(static_cast<std::size_t>(tokens));
  std::iota(slots.begin(), slots.end(), 0);
  if (!in_order) {
    std::shuffle(slots.begin(), slots.end(), random);
  }
  trial.indices.resize(slots.size() * 8);
  std::memcpy(trial.indices.data(), slots.data(), trial.indices.size());
  return trial;
}

// Milliseconds of one of `repeats` runs of `work`, after a first that does not count.
template <class Work>
double milliseconds(int repeats, Work work) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  work();
  require(cudaEventRecord(begin));
  for (int i = 0; i < repeats; ++i) {
    work();
  }
  require(cudaEventRecord(end));
  require(cudaEventSynchronize(end));
  float elapsed = 0;
  require(cudaEventElapsedTime(&elapsed, begin, end));
  require(cudaEventDestroy(begin));
  require(cudaEventDestroy(end));
  return static_cast<double>(elapsed) / repeats;
}

// Bytes that a store must move: rows and indices in; codes, rope and scales out.
std::int64_t moved_bytes(const StoreShape& shape) {
  const LayoutShape layout = layout_shape(shape.layout);
  return shape.tokens * (shape.row_bytes() + index_bytes(shape.index_type) + layout.token_bytes() - layout.pad);
}

void print_speed(Layout layout, std::int64_t tokens, bool in_order) {
  const Subject subject = strict(layout);
  const Trial trial = large_trial(layout, tokens, in_order);
  const std::int64_t bytes = moved_bytes(trial.shape);
  const auto half = static_cast<std::size_t>(bytes / 2);
  void* input = nullptr;
  void* index = nullptr;
  void* cache = nullptr;
  void* from = nullptr;
  void* to = nullptr;
  require(cudaMalloc(&input, trial.input.size()));
  require(cudaMalloc(&index, trial.indices.size()));
  require(cudaMalloc(&cache, static_cast<std::size_t>(trial.shape.pool_bytes())));
  require(cudaMalloc(&from, half));
  require(cudaMalloc(&to, half));
  require(cudaMemcpy(input, trial.input.data(), trial.input.size(), cudaMemcpyHostToDevice));
  require(cudaMemcpy(index, trial.indices.data(), trial.indices.size(), cudaMemcpyHostToDevice));
  const kvproof_store_call call = store_call(trial, cache, input, index);
  const double store = milliseconds(20, [&] {
    const char* message = nullptr;
    ASSERT_EQ(subject.store(subject.state, &call, &message), KVPROOF_STORED);
  });
  const double copy = milliseconds(20, [&] { require(cudaMemcpyAsync(to, from, half, cudaMemcpyDeviceToDevice)); });
  const auto rate = [bytes](double ms) { return static_cast<double>(bytes) / ms / 1e6; };
  fmt::print("{}, {} tokens to {} slots: {:.3f} ms, {:.0f} GB/s; device copy of the same bytes {:.0f} GB/s; ratio {:.3f}\n",
             subject.title(), tokens, in_order ? "successive" : "random", store, rate(store), rate(copy), copy / store);
  EXPECT_GT(rate(store), 0.0);
  for (void* pointer : {input, index, cache, from, to}) {
    require(cudaFree(pointer));
  }
}

TEST(GpuLarge, more_blocks_than_a_16_bit_grid) {
  const auto memory = cuda_memory();
  EXPECT_EQ(difference(strict(Layout::flashmla), large_trial(Layout::flashmla, 8 * 65535 + 7), *memory), "");
  EXPECT_EQ(difference(strict(Layout::indexer), large_trial(Layout::indexer, 32 * 65535 + 33), *memory), "");
}

// Many tokens to one slot: every byte that comes out is some contender's, nothing else moves, and the line says how often a
// unit was torn between contenders. Token i's row is constant and gives codes, scale and rope that name it.
TEST(GpuLarge, duplicates_leave_bytes_of_contenders) {
  const Subject subject = strict(Layout::flashmla);
  constexpr std::int64_t slots = 1024;
  constexpr std::int64_t contenders = 64;
  constexpr int contender_kinds = 32;
  Trial trial = dense_trial(subject.dialect, Fp8::e4m3fn, ElementType::bf16, slots * contenders, 64);
  trial.shape.pages = slots / 64;
  for (std::int64_t token = 0; token < trial.shape.tokens; ++token) {
    const auto kind = static_cast<std::uint32_t>(token / slots) % contender_kinds;
    for (int i = 0; i < 512; ++i) {
      append_element(trial.input, 0x3F80U + kind * 0x84U, ElementType::bf16);  // its own mantissa and exponent
    }
    append_index(trial.indices, token % slots, IndexType::int64);
  }
  const auto memory = cuda_memory();
  const auto pool_bytes = static_cast<std::uint64_t>(trial.shape.pool_bytes());
  auto* cache = static_cast<std::uint8_t*>(memory->allocate(pool_bytes));
  void* input = memory->allocate(trial.input.size());
  void* index = memory->allocate(trial.indices.size());
  memory->copy_in(input, trial.input.data(), trial.input.size());
  memory->copy_in(index, trial.indices.data(), trial.indices.size());
  std::int64_t torn_tiles = 0;
  std::int64_t torn_rope = 0;
  std::int64_t rounds = 0;
  std::vector<std::uint8_t> pool(pool_bytes);
  for (; rounds < 50; ++rounds) {
    std::fill(pool.begin(), pool.end(), 0xEE);
    memory->copy_in(cache, pool.data(), pool_bytes);
    kvproof_store_call call = store_call(trial, cache, input, index);
    call.stream = memory->stream();
    const char* message = nullptr;
    ASSERT_EQ(subject.store(subject.state, &call, &message), KVPROOF_STORED);
    memory->synchronize();
    memory->copy_out(pool.data(), cache, pool_bytes);
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const std::uint8_t* page = pool.data() + slot / 64 * trial.shape.page_stride;
      const std::uint8_t* data = page + slot % 64 * 576;
      const std::uint8_t* scales = page + 64 * 576 + slot % 64 * 8;
      for (int tile = 0; tile < 7; ++tile) {
        torn_tiles += std::set<std::uint8_t>(data + 64 * tile, data + 64 * tile + 64).size() > 1 ? 1 : 0;
        ASSERT_NE(data[64 * tile], 0xEE);
        ASSERT_NE(scales[tile], 0xEE);
      }
      ASSERT_EQ(scales[7], 0xEE);  // the pad byte is kept
      std::set<std::uint16_t> rope;
      for (int i = 0; i < 64; ++i) {
        const auto value = static_cast<std::uint16_t>(data[448 + 2 * i] | (data[449 + 2 * i] << 8));
        ASSERT_EQ((value - 0x3F80) % 0x84, 0);
        ASSERT_LT((value - 0x3F80) / 0x84, contender_kinds);
        rope.insert(value);
      }
      torn_rope += rope.size() > 1 ? 1 : 0;
    }
  }
  fmt::print("duplicates: {} tiles, {} torn; {} ropes, {} torn\n", rounds * slots * 7, torn_tiles, rounds * slots,
             torn_rope);
  memory->release(cache);
  memory->release(input);
  memory->release(index);
}

TEST(GpuLarge, speed_beside_a_device_copy) {
  for (const bool in_order : {false, true}) {
    print_speed(Layout::flashmla, 1 << 20, in_order);
    print_speed(Layout::indexer, 1 << 20, in_order);
  }
}

}  // namespace
}  // namespace kvproof
