// The model behind C functions, for other languages.
#include "kvproof/reference/model.h"
#include "kvproof/reference/ue8m0.h"

extern "C" {

void kvproof_encode(const std::uint32_t* patterns, std::int64_t count, std::uint32_t type, int limit, std::uint8_t* codes) {
  kvproof::model::encode(patterns, count, static_cast<kvproof::Fp8>(type), limit, codes);
}

void kvproof_decode(const std::uint8_t* codes, std::int64_t count, std::uint32_t type, std::uint32_t* patterns) {
  kvproof::model::decode(codes, count, static_cast<kvproof::Fp8>(type), patterns);
}

void kvproof_to_bf16(const std::uint32_t* patterns, std::int64_t count, std::uint16_t* bf16) {
  for (std::int64_t i = 0; i < count; ++i) {
    bf16[i] = kvproof::f32_to_bf16(patterns[i]);
  }
}

void kvproof_from_bf16(const std::uint16_t* bf16, std::int64_t count, std::uint32_t* patterns) {
  for (std::int64_t i = 0; i < count; ++i) {
    patterns[i] = kvproof::bf16_to_f32(bf16[i]);
  }
}

void kvproof_from_ue8m0(const std::uint8_t* bytes, std::int64_t count, std::uint32_t* patterns) {
  for (std::int64_t i = 0; i < count; ++i) {
    patterns[i] = kvproof::ue8m0_to_f32(bytes[i]);
  }
}

void kvproof_to_ue8m0(const std::uint32_t* patterns, std::int64_t count, std::uint8_t* bytes) {
  for (std::int64_t i = 0; i < count; ++i) {
    bytes[i] = kvproof::f32_to_ue8m0(patterns[i]);
  }
}
}
