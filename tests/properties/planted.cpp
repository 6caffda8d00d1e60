#include "planted.h"

#include "kvproof/device/store_call.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/model.h"

namespace kvproof::planted {
namespace {

const Dialect& strict(Layout layout) { return find_dialect("strict", layout)->dialect; }

std::uint8_t* pool_of(const kvproof_store_call& call) { return static_cast<std::uint8_t*>(call.cache); }

// Calls `change` with the pool bytes of every stored token's slot: data and scales.
template <class Change>
void each_slot(const kvproof_store_call& call, Change change) {
  const StoreShape s = shape_of(call);
  for (std::int64_t token = 0; token < s.tokens; ++token) {
    const Location at = locate(index_at(static_cast<const std::uint8_t*>(call.index), s.index_type, token), s.pages,
                               s.page_size, strict(s.layout));
    if (at.fate == Fate::stored) {
      std::uint8_t* page = pool_of(call) + at.page * s.page_stride;
      change(page + data_offset(s.layout, at.slot), page + scale_offset(s.layout, at.slot, s.page_size));
    }
  }
}

}  // namespace

Subject subject(Layout layout, kvproof_store_fn store) {
  Subject s;
  s.name = "planted";
  s.origin = "test";
  s.dialect_name = "strict";
  s.dialect = strict(layout);
  s.input_types = {ElementType::bf16, ElementType::fp16, ElementType::fp32};
  s.index_types = {IndexType::int32, IndexType::int64};
  s.fp8_types = {Fp8::e4m3fn, Fp8::e4m3fnuz};
  s.duplicates = Duplicates::last;
  s.store = store;
  return s;
}

Subject subject(const Dialect& dialect) {
  Subject s = subject(dialect.layout, [](void* state, const kvproof_store_call* call, const char**) -> std::int32_t {
    model::store(shape_of(*call), *static_cast<const Dialect*>(state), static_cast<const std::uint8_t*>(call->input),
                 static_cast<const std::uint8_t*>(call->index), pool_of(*call));
    return KVPROOF_STORED;
  });
  s.dialect_name = "custom";
  s.dialect = dialect;
  s.state = const_cast<Dialect*>(&dialect);
  return s;
}

std::int32_t right(void*, const kvproof_store_call* call, const char**) {
  const StoreShape s = shape_of(*call);
  model::store(s, strict(s.layout), static_cast<const std::uint8_t*>(call->input),
               static_cast<const std::uint8_t*>(call->index), pool_of(*call));
  return KVPROOF_STORED;
}

std::int32_t code_off_by_one(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  each_slot(*call, [](std::uint8_t* data, std::uint8_t*) { data[17] = data[17] == 0x20 ? 0x21 : data[17]; });
  return KVPROOF_STORED;
}

std::int32_t rope_bit_flipped(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  each_slot(*call, [](std::uint8_t* data, std::uint8_t*) {
    // NaN made quiet, as a copy through float arithmetic does.
    const bool signalling_nan = (data[449] & 0x7F) == 0x7F && (data[448] & 0xC0) == 0x80 && (data[448] & 0x3F) != 0;
    data[448] = signalling_nan ? static_cast<std::uint8_t>(data[448] | 0x40) : data[448];
  });
  return KVPROOF_STORED;
}

std::int32_t scale_255(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  each_slot(*call, [](std::uint8_t*, std::uint8_t* scales) { scales[3] = scales[3] >= 247 ? 255 : scales[3]; });
  return KVPROOF_STORED;
}

std::int32_t nan_code(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  const std::uint8_t underflow = call->fp8_type == KVPROOF_E4M3FNUZ ? 0x80 : 0x7F;
  each_slot(*call, [underflow](std::uint8_t* data, std::uint8_t*) { data[5] = data[5] == 0x00 ? underflow : data[5]; });
  return KVPROOF_STORED;
}

std::int32_t pad_written(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  each_slot(*call, [](std::uint8_t*, std::uint8_t* scales) { scales[7] = 0; });
  return KVPROOF_STORED;
}

std::int32_t minus_one_stored(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  for (std::int64_t token = 0; token < call->tokens; ++token) {
    if (index_at(static_cast<const std::uint8_t*>(call->index), static_cast<IndexType>(call->index_type), token) == -1) {
      pool_of(*call)[-1] = 0;
    }
  }
  return KVPROOF_STORED;
}

std::int32_t input_written(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  if (call->tokens > 1) {
    static_cast<std::uint8_t*>(const_cast<void*>(call->input))[call->input_row_stride] = 0x11;
  }
  return KVPROOF_STORED;
}

std::int32_t indices_written(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  if (call->tokens > 0) {
    static_cast<std::uint8_t*>(const_cast<void*>(call->index))[0] ^= 1;
  }
  return KVPROOF_STORED;
}

std::int32_t past_input_written(void* state, const kvproof_store_call* call, const char** message) {
  right(state, call, message);
  static_cast<std::uint8_t*>(const_cast<void*>(call->input))[shape_of(*call).input_bytes()] = 0;
  return KVPROOF_STORED;
}

// From 300 to 900 tokens the last one is dropped.
std::int32_t middle_batch_short(void* state, const kvproof_store_call* call, const char** message) {
  kvproof_store_call shorter = *call;
  shorter.tokens -= call->tokens >= 300 && call->tokens <= 900 ? 1 : 0;
  return right(state, &shorter, message);
}

std::int32_t refuses_all(void*, const kvproof_store_call*, const char** message) {
  *message = "not today";
  return KVPROOF_REFUSED;
}

std::int32_t refuses_tokens(void*, const kvproof_store_call* call, const char** message) {
  *message = "no tokens, please";
  return call->tokens > 0 ? KVPROOF_REFUSED : KVPROOF_STORED;
}

std::int32_t refuses_several_tokens(void* state, const kvproof_store_call* call, const char** message) {
  *message = "one token a call";
  return call->tokens > 1 ? KVPROOF_REFUSED : right(state, call, message);
}

std::int32_t refuses_and_writes(void*, const kvproof_store_call* call, const char** message) {
  pool_of(*call)[0] = 0;
  *message = "too late";
  return KVPROOF_REFUSED;
}

std::int32_t fails_always(void*, const kvproof_store_call*, const char** message) {
  *message = "out of luck";
  return KVPROOF_FAILED;
}

}  // namespace kvproof::planted
