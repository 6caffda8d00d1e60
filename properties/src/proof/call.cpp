#include "call.h"

#include <algorithm>
#include <numeric>

namespace kvproof {
namespace {

constexpr std::int64_t usual_page_size = 64;
constexpr std::int64_t cuda_input_bytes = std::int64_t{1} << 28;

std::int64_t page_size_of(const Subject& subject) {
  const auto& sizes = subject.page_sizes;
  const bool usual = sizes.empty() || std::find(sizes.begin(), sizes.end(), usual_page_size) != sizes.end();
  return usual ? usual_page_size : sizes.front();
}

// As engines allocate pages, and each at a multiple of 16.
std::int64_t page_stride_of(Layout layout, std::int64_t page_size) {
  return (production_page_stride(layout, page_size) + 15) / 16 * 16;
}

}  // namespace

std::int64_t rows_a_call(const Subject& subject, ElementType input) {
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

SlotOrder slot_order(std::int64_t rows) {
  SlotOrder order{rows, rows * 5 / 8 + 1, rows / 3};
  while (std::gcd(order.step, rows) != 1) {
    ++order.step;
  }
  return order;
}

StoreShape proof_shape(const Subject& subject, ElementType input, Fp8 fp8, std::int64_t rows, std::int64_t number) {
  StoreShape shape;
  shape.layout = subject.dialect.layout;
  shape.input_type = input;
  const auto turn = static_cast<std::size_t>(number) % subject.index_types.size();
  shape.index_type = subject.index_types[turn];
  shape.fp8 = fp8;
  shape.tokens = rows;
  shape.row_stride = shape.row_bytes();
  shape.page_size = page_size_of(subject);
  shape.pages = rows / shape.page_size + 1;
  shape.page_stride = page_stride_of(shape.layout, shape.page_size);
  return shape;
}

bool store_rows(const Subject& subject, const StoreShape& shape, const void* input, void* pool, const void* indices,
                Memory& memory, ProofAnswer& answer) {
  kvproof_store_call call{};
  call.size = sizeof call;
  call.layout = static_cast<std::uint32_t>(shape.layout);
  call.input = input;
  call.input_type = static_cast<std::uint32_t>(shape.input_type);
  call.index_type = static_cast<std::uint32_t>(shape.index_type);
  call.tokens = shape.tokens;
  call.input_row_stride = shape.row_stride;
  call.cache = pool;
  call.pages = shape.pages;
  call.page_stride = shape.page_stride;
  call.page_size = static_cast<std::int32_t>(shape.page_size);
  call.fp8_type = static_cast<std::uint32_t>(shape.fp8);
  call.index = indices;
  call.stream = memory.stream();

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
