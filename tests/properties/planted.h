// Small kernels for the tests: the model itself, and the model with one thing done wrong.
#pragma once

#include "kvproof/device/subject.h"

namespace kvproof::planted {

// A subject of the strict dialect on the host that stores with `store`.
Subject subject(Layout layout, kvproof_store_fn store);

// The model behind the C interface, as a kernel of any dialect; it must outlive the subject.
Subject subject(const Dialect& dialect);

// The model behind the C interface.
std::int32_t right(void* state, const kvproof_store_call* call, const char** message);

// Each is the model, then one defect.
std::int32_t code_off_by_one(void* state, const kvproof_store_call* call, const char** message);
std::int32_t rope_bit_flipped(void* state, const kvproof_store_call* call, const char** message);
std::int32_t scale_255(void* state, const kvproof_store_call* call, const char** message);
std::int32_t nan_code(void* state, const kvproof_store_call* call, const char** message);
std::int32_t pad_written(void* state, const kvproof_store_call* call, const char** message);
std::int32_t minus_one_stored(void* state, const kvproof_store_call* call, const char** message);
std::int32_t input_written(void* state, const kvproof_store_call* call, const char** message);
std::int32_t indices_written(void* state, const kvproof_store_call* call, const char** message);
std::int32_t past_input_written(void* state, const kvproof_store_call* call, const char** message);
std::int32_t middle_batch_short(void* state, const kvproof_store_call* call, const char** message);
std::int32_t refuses_all(void* state, const kvproof_store_call* call, const char** message);
std::int32_t refuses_several_tokens(void* state, const kvproof_store_call* call, const char** message);
std::int32_t refuses_tokens(void* state, const kvproof_store_call* call, const char** message);
std::int32_t refuses_and_writes(void* state, const kvproof_store_call* call, const char** message);
std::int32_t fails_always(void* state, const kvproof_store_call* call, const char** message);

}  // namespace kvproof::planted
