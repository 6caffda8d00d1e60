#include "call.h"

#include <algorithm>
#include <numeric>

#include "kvproof/device/store_call.h"

namespace kvproof {
namespace {

constexpr std::int64_t usual_page_size = 64;
constexpr std::int64_t lane_bytes = 16;  // that a lane of the GPU's prover reads and writes at once
constexpr std::int64_t cuda_input_bytes = std::int64_t{1} << 28;

std::int64_t multiple_from(std::int64_t smallest, std::int64_t of) { return (smallest + of - 1) / of * of; }

// Production's, and one that every kernel with pages can take; of those that the kernel names, the usual one first.
std::vector<std::int64_t> page_sizes_to_try(const Subject& subject) {
  if (subject.page_sizes.empty()) {
    return {usual_page_size, 256, 2, 1};
  }
  std::vector<std::int64_t> sizes = subject.page_sizes;
  const auto usual = std::find(sizes.begin(), sizes.end(), usual_page_size);
  if (usual != sizes.end()) {
    std::rotate(sizes.begin(), usual, usual + 1);
  }
  return sizes;
}

// As engines allocate pages; with no tail; at a multiple of a FlashMLA row, of the system's pages, and of both. No tail is
// longer than three pages: the pool stays small.
std::vector<std::int64_t> page_strides_to_try(Layout layout, std::int64_t page_size) {
  constexpr std::int64_t row = 576;
  constexpr std::int64_t system_page = 4096;
  const std::int64_t tight = smallest_page_stride(layout, page_size);
  std::vector<std::int64_t> strides;
  for (const std::int64_t stride :
       {multiple_from(production_page_stride(layout, page_size), lane_bytes), tight, multiple_from(tight, row),
        multiple_from(tight, system_page), multiple_from(tight, std::lcm(row, system_page))}) {
    if (stride <= 4 * tight && std::find(strides.begin(), strides.end(), stride) == strides.end()) {
      strides.push_back(stride);
    }
  }
  return strides;
}

std::int64_t usual_rows_a_call(const Subject& subject, ElementType input) {
  const std::int64_t row_bytes = std::int64_t{layout_shape(subject.dialect.layout).row_values} * element_bytes(input);
  switch (subject.memory) {
    case MemoryKind::cuda:
      return cuda_input_bytes / row_bytes;
    case MemoryKind::own:
      return 16384;
    case MemoryKind::host:
      break;
  }
  return 1024;  // so that a call stays in the cache
}

}  // namespace

std::vector<ProofPages> pages_to_try(const Subject& subject) {
  std::vector<ProofPages> all;
  for (const std::int64_t size : page_sizes_to_try(subject)) {
    for (const std::int64_t stride : page_strides_to_try(subject.dialect.layout, size)) {
      if (subject.memory != MemoryKind::cuda || stride % lane_bytes == 0) {
        all.push_back({size, stride});
      }
    }
  }
  return all;
}

std::vector<std::int64_t> rows_a_call_to_try(const Subject& subject, ElementType input) {
  const std::int64_t usual = usual_rows_a_call(subject, input);
  std::vector<std::int64_t> all{usual};
  for (const std::int64_t fewer : {128, 16, 1}) {
    if (fewer < usual) {
      all.push_back(fewer);
    }
  }
  return all;
}

SlotOrder slot_order(std::int64_t rows) {
  SlotOrder order{rows, rows * 5 / 8 + 1, rows / 3};
  while (std::gcd(order.step, rows) != 1) {
    ++order.step;
  }
  return order;
}

IndexType index_type_at(const Subject& subject, const ProofQuestion& question, std::int64_t first) {
  const auto turn = static_cast<std::size_t>(first / question.rows_a_call) % subject.index_types.size();
  return question.index.value_or(subject.index_types[turn]);
}

StoreShape proof_shape(const Subject& subject, const ProofQuestion& question, std::int64_t rows, IndexType index_type) {
  StoreShape shape;
  shape.layout = subject.dialect.layout;
  shape.input_type = question.input;
  shape.index_type = index_type;
  shape.fp8 = question.fp8;
  shape.tokens = rows;
  shape.row_stride = shape.row_bytes();
  shape.page_size = question.pages.size;
  shape.pages = rows / shape.page_size + 1;
  shape.page_stride = question.pages.stride;
  return shape;
}

bool store_rows(const Subject& subject, const StoreShape& shape, const void* input, void* pool, const void* indices,
                Memory& memory, ProofAnswer& answer) {
  const kvproof_store_call call = store_call(shape, pool, input, indices, memory.stream());
  const char* message = nullptr;
  const std::int32_t status = subject.store(subject.state, &call, &message);
  const std::string said = message != nullptr ? message : "";
  memory.synchronize();
  if (status == KVPROOF_REFUSED) {
    answer.refused += shape.tokens;
    answer.refusal = answer.refusal.empty() ? said : answer.refusal;
  } else if (status != KVPROOF_STORED) {
    answer.failure =
        "the kernel failed: " + (said.empty() ? "status " + std::to_string(status) + " without a message" : said);
  }
  return status == KVPROOF_STORED;
}

}  // namespace kvproof
