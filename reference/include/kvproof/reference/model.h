// The model compiled once, for callers on the host: the same operations as the headers, behind plain functions.
#pragma once

#include <cstdint>

#include "kvproof/reference/dialect.h"
#include "kvproof/reference/row.h"
#include "kvproof/reference/store.h"

namespace kvproof::model {

// Encodes `count` fp32 patterns to codes with no scale: nearest-even, saturating at `limit` (448, 240 or 224).
void encode(const F32* patterns, std::int64_t count, Fp8 type, int limit, std::uint8_t* codes);

// Decodes `count` codes.
void decode(const std::uint8_t* codes, std::int64_t count, Fp8 type, F32* patterns);

// Encodes one row (layout_shape(dialect.layout).row_values elements).
void encode_row(const std::uint8_t* row, ElementType type, const Dialect& dialect, Fp8 fp8, RowImage* image);

// Stores a batch into `pool` (shape.pool_bytes() bytes), token after token; tokens outside the contract are left out.
void store(const StoreShape& shape, const Dialect& dialect, const std::uint8_t* input, const std::uint8_t* indices,
           std::uint8_t* pool);

// Reads the row of one slot back to row_values patterns.
void load_row(const std::uint8_t* pool, const StoreShape& shape, std::int64_t page, std::int64_t slot, F32* values);

}  // namespace kvproof::model
