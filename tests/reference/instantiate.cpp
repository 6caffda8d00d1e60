// Every host-and-device function of the headers, called with arguments that no compiler can know, so that each one's
// instructions stand in this object for no_floating_point.py to read. Compiled and never run.
#include "kvproof/reference/declared_error.h"
#include "kvproof/reference/load.h"
#include "kvproof/reference/store.h"

namespace kvproof::instantiate {

F32 multiply(F32 a, F32 b) { return f32_multiply(a, b); }
F32 divide(F32 a, F32 b) { return f32_divide(a, b); }
std::uint16_t to_bf16(F32 x) { return f32_to_bf16(x); }
F32 from_bf16(std::uint16_t bits) { return bf16_to_f32(bits); }
F32 from_f16(std::uint16_t bits) { return f16_to_f32(bits); }
std::uint8_t to_fp8(F32 x, Fp8 type, std::uint8_t limit_code) { return f32_to_fp8(x, type, limit_code); }
F32 from_fp8(std::uint8_t code, Fp8 type) { return fp8_to_f32(code, type); }
std::uint8_t negate(std::uint8_t code, Fp8 type) { return fp8_negate(code, type); }
std::uint8_t to_ue8m0(F32 ratio) { return f32_to_ue8m0(ratio); }
F32 from_ue8m0(std::uint8_t byte) { return ue8m0_to_f32(byte); }
bool finite(F32 x) { return f32_is_finite(x); }
TileScale scale(F32 amax, const Dialect& dialect, Fp8 type) { return tile_scale(amax, dialect, type); }
bool divisible(F32 amax, const Dialect& dialect, Fp8 type) { return can_divide(amax, dialect, type); }
bool divides(const Dialect& dialect) { return divides_by_stored_scale(dialect); }
std::uint8_t code(F32 x, const TileScale& scale, const Dialect& dialect, Fp8 type, std::uint8_t limit_code) {
  return quantise(x, scale, dialect, type, limit_code);
}
bool excused(F32 x, const TileScale& scale, const Dialect& dialect, Fp8 type, std::uint8_t limit_code, std::uint8_t code) {
  return explained_by_declared_error(f32_neighbour(x, 1), scale, dialect, type, limit_code, code);
}
std::uint16_t rope(std::uint32_t bits, ElementType type) { return element_to_rope(bits, type); }
void row(const std::uint8_t* input, ElementType type, const Dialect& dialect, Fp8 fp8, RowImage* image) {
  encode_row(input, type, dialect, fp8, image);
}
Location at(std::int64_t index, std::int64_t pages, std::int64_t page_size, const Dialect& dialect) {
  return locate(index, pages, page_size, dialect);
}
PagePlace place(Layout layout, std::int64_t page_size, std::int64_t offset) {
  return place_in_page(layout, page_size, offset);
}
std::int64_t stride(Layout layout, std::int64_t page_size) { return production_page_stride(layout, page_size); }
std::int64_t sizes(const StoreShape& shape) {
  return shape.capacity() + shape.pool_bytes() + shape.input_bytes() + shape.indices_bytes();
}
void batch(const StoreShape& shape, const Dialect& dialect, const std::uint8_t* input, const std::uint8_t* indices,
           std::uint8_t* pool) {
  store(shape, dialect, input, indices, [pool](std::int64_t offset, std::uint8_t byte) { pool[offset] = byte; });
}
void values(const std::uint8_t* pool, const StoreShape& shape, std::int64_t page, std::int64_t slot, F32* out) {
  load_row(pool, shape, page, slot, out);
}

}  // namespace kvproof::instantiate
