#include "kernels/plan.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

namespace kvproof::kernels {
namespace {

struct RowShape {
  const char* layout;
  int values;       // of an input row
  int token_bytes;  // of a token in a page
};

constexpr RowShape row_shape(Layout layout) {
  return layout == Layout::flashmla ? RowShape{"flashmla", 512, 584} : RowShape{"indexer", 128, 132};
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

int widest_access(const void* base, std::int64_t stride) {
  const std::uint64_t bits = address_of(base) | static_cast<std::uint64_t>(stride);
  return bits % 16 == 0 ? 16 : (bits % 4 == 0 ? 4 : (bits % 2 == 0 ? 2 : 1));
}

Fp8Format fp8_format(const Dialect& dialect, bool fnuz) {
  Fp8Format format{};
  format.limit = fnuz ? static_cast<float>(dialect.fnuz_limit) : 448.0F;
  format.limit_code = fnuz && dialect.fnuz_limit == 240 ? 0x7F : 0x7E;
  format.smallest_field = (127U - (fnuz ? 7U : 6U)) << 23;
  format.negative_zero = !fnuz;
  format.instruction = !fnuz;
  switch (dialect.nan) {
    case NanCode::plus_max:
      format.nan_code = format.limit_code;
      break;
    case NanCode::minus_max:
      format.nan_code = format.limit_code | 0x80U;
      break;
    case NanCode::zero:
      format.nan_code = 0;
      break;
    case NanCode::nan:
    case NanCode::unstated:
      format.nan_code = fnuz ? 0x80 : 0x7F;
      break;
  }
  return format;
}

// Empty if the call is one that the kernels take.
std::string refusal(const kvproof_store_call& call, const Dialect& dialect) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (call.size != sizeof(kvproof_store_call)) {
    return fmt::format("store call of {} bytes: expected {}", call.size, sizeof(kvproof_store_call));
  }
  const RowShape shape = row_shape(dialect.layout);
  if (call.layout != static_cast<std::uint32_t>(dialect.layout)) {
    return fmt::format("layout {}: expected {} ({})", call.layout, static_cast<std::uint32_t>(dialect.layout), shape.layout);
  }
  if (call.input_type > KVPROOF_FP32) {
    return fmt::format("input type {}: expected 0 (bf16), 1 (fp16) or 2 (fp32)", call.input_type);
  }
  if (call.index_type > KVPROOF_INT64) {
    return fmt::format("index type {}: expected 0 (int32) or 1 (int64)", call.index_type);
  }
  if (call.fp8_type > KVPROOF_E4M3FNUZ) {
    return fmt::format("fp8 type {}: expected 0 (e4m3fn) or 1 (e4m3fnuz)", call.fp8_type);
  }
  if (call.tokens < 0) {
    return fmt::format("tokens {}: expected 0 or more", call.tokens);
  }
  if (call.pages < 0) {
    return fmt::format("pages {}: expected 0 or more", call.pages);
  }
  if (call.page_size < 1) {
    return fmt::format("page size {}: expected 1 or more", call.page_size);
  }
  const std::int64_t page_bytes = std::int64_t{call.page_size} * shape.token_bytes;
  if (call.page_stride < page_bytes) {
    return fmt::format("page stride {}: expected at least {} for {} tokens of {} bytes", call.page_stride, page_bytes,
                       call.page_size, shape.token_bytes);
  }
  if (call.pages > most / call.page_stride) {
    return fmt::format("{} pages of {} bytes: expected a pool of at most {} bytes", call.pages, call.page_stride, most);
  }
  const std::int64_t row_bytes = std::int64_t{shape.values} * (call.input_type == KVPROOF_FP32 ? 4 : 2);
  if (call.input_row_stride < row_bytes) {
    return fmt::format("input row stride {}: expected at least {}", call.input_row_stride, row_bytes);
  }
  if (call.tokens > most / call.input_row_stride) {
    return fmt::format("{} rows of {} bytes: expected an input of at most {} bytes", call.tokens, call.input_row_stride,
                       most);
  }
  if (call.tokens > 0 && (call.input == nullptr || call.index == nullptr || call.cache == nullptr)) {
    return fmt::format("{} pointer is null: expected memory for {} tokens",
                       call.input == nullptr ? "input" : (call.index == nullptr ? "index" : "cache"), call.tokens);
  }
  return {};
}

}  // namespace

bool make_plan(const kvproof_store_call& call, const Dialect& dialect, StorePlan* plan, std::string* why) {
  *why = refusal(call, dialect);
  if (!why->empty()) {
    return false;
  }
  const auto page_size = static_cast<std::uint32_t>(call.page_size);
  plan->input = static_cast<const std::uint8_t*>(call.input);
  plan->index = static_cast<const std::uint8_t*>(call.index);
  plan->cache = static_cast<std::uint8_t*>(call.cache);
  plan->tokens = call.tokens;
  plan->row_stride = call.input_row_stride;
  plan->page_stride = call.page_stride;
  plan->page_size = call.page_size;
  plan->capacity = call.pages * call.page_size;
  plan->page_shift = std::has_single_bit(page_size) ? std::countr_zero(page_size) : -1;
  plan->input_width = widest_access(call.input, call.input_row_stride);
  plan->cache_width = widest_access(call.cache, call.page_stride);
  plan->index_is_wide = call.index_type == KVPROOF_INT64;
  plan->index_is_aligned = address_of(call.index) % (plan->index_is_wide ? 8 : 4) == 0;
  plan->input_type = static_cast<ElementType>(call.input_type);
  plan->rules.dialect = dialect;
  plan->rules.fp8 = fp8_format(dialect, call.fp8_type == KVPROOF_E4M3FNUZ);
  plan->rules.floor = std::bit_cast<float>(dialect.floor_value);
  plan->rules.limit_reciprocal = 1.0F / plan->rules.fp8.limit;
  return true;
}

}  // namespace kvproof::kernels
