#include "kvproof/reference/model.h"

#include "kvproof/reference/load.h"

namespace kvproof::model {

void encode(const F32* patterns, std::int64_t count, Fp8 type, int limit, std::uint8_t* codes) {
  const std::uint8_t limit_code = fp8_limit_code(type, limit);
  for (std::int64_t i = 0; i < count; ++i) {
    codes[i] = f32_to_fp8(patterns[i], type, limit_code);
  }
}

void decode(const std::uint8_t* codes, std::int64_t count, Fp8 type, F32* patterns) {
  for (std::int64_t i = 0; i < count; ++i) {
    patterns[i] = fp8_to_f32(codes[i], type);
  }
}

void encode_row(const std::uint8_t* row, ElementType type, const Dialect& dialect, Fp8 fp8, RowImage* image) {
  kvproof::encode_row(row, type, dialect, fp8, image);
}

void store(const StoreShape& shape, const Dialect& dialect, const std::uint8_t* input, const std::uint8_t* indices,
           std::uint8_t* pool) {
  const std::int64_t bytes = shape.pool_bytes();
  kvproof::store(shape, dialect, input, indices, [pool, bytes](std::int64_t offset, std::uint8_t byte) {
    if (offset >= 0 && offset < bytes) {
      pool[offset] = byte;
    }
  });
}

void load_row(const std::uint8_t* pool, const StoreShape& shape, std::int64_t page, std::int64_t slot, F32* values) {
  kvproof::load_row(pool, shape, page, slot, values);
}

}  // namespace kvproof::model
