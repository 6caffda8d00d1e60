// The steps of a right store. A defect is a struct that derives from Right and changes one of them.
#pragma once

#include "planted/call.h"
#include "planted/facts.h"

// Planted kernels are many: plain loops, and functions apart, compile in a fraction of the time.
#if defined(__CUDA_ARCH__)
#define KVPROOF_PLAIN_LOOP _Pragma("unroll 1")
#else
#define KVPROOF_PLAIN_LOOP
#endif
#if defined(__CUDACC__)
#define KVPROOF_APART __noinline__ __host__ __device__
#else
#define KVPROOF_APART __attribute__((noinline))
#endif

namespace kvproof::planted {

struct Right : Facts {
  // What the kernel is launched with, and whether the launch goes well. On the host side of either machine.
  static void launched(Call*) {}
  static bool launches(const Call&) { return true; }

  // The token that is stored in the `turn`-th place.
  KVPROOF_HD static std::int64_t token(const Call&, std::int64_t turn) { return turn; }

  // The index of a token.
  KVPROOF_HD static std::int64_t index(const Call& call, std::int64_t token) {
    return index_at(call.indices, call.shape.index_type, token);
  }

  // Whether an index is stored, and what is done for a token that is not.
  KVPROOF_HD static bool stored(const Call& call, std::int64_t index) {
    return locate(index, call.shape.pages, call.shape.page_size, call.dialect).fate == Fate::stored;
  }
  KVPROOF_HD static void skipped(const Call&, std::int64_t /*token*/, std::int64_t /*index*/) {}

  KVPROOF_HD static std::int64_t page(const Call& call, std::int64_t index) { return index / call.shape.page_size; }
  KVPROOF_HD static std::int64_t slot(const Call& call, std::int64_t index) { return index % call.shape.page_size; }

  // The first byte of a token's row, and an element of it as binary32.
  KVPROOF_HD static const std::uint8_t* row(const Call& call, std::int64_t token) {
    return call.input + token * call.shape.row_stride;
  }
  KVPROOF_HD static F32 element(const Call& call, const std::uint8_t* row, int i) {
    return element_to_f32(element_bits(row, call.shape.input_type, i), call.shape.input_type);
  }

  // How an element enters its tile's amax, and what becomes of a tile's largest.
  KVPROOF_HD static F32 magnitude(const Call& call, F32 x) { return amax_contribution(x, call.dialect.infinity); }
  KVPROOF_HD static F32 amax(const Call&, std::int64_t /*token*/, int /*tile*/, F32 largest) { return largest; }
  // The elements that the reduction of a tile takes in: [first, end).
  KVPROOF_HD static int first_reduced(const Call& call, int tile) { return tile * layout_shape(call.shape.layout).tile; }
  KVPROOF_HD static int end_reduced(const Call& call, int tile) { return (tile + 1) * layout_shape(call.shape.layout).tile; }

  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) { return tile_scale(amax, call.dialect, call.shape.fp8); }

  KVPROOF_HD static std::uint8_t limit_code(const Call& call) {
    return fp8_limit_code(call.shape.fp8, dialect_limit(call.dialect, call.shape.fp8));
  }
  KVPROOF_HD static std::uint8_t code(const Call& call, F32 x, const TileScale& scale) {
    return quantise(x, scale, call.dialect, call.shape.fp8, limit_code(call));
  }

  KVPROOF_HD static std::uint16_t rope(const Call& call, std::uint32_t bits) {
    return element_to_rope(bits, call.shape.input_type);
  }

  // Byte offsets from the pool's base: of a slot's data, of its scales, and of byte i of the data from the data's start.
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return page * call.shape.page_stride + data_offset(call.shape.layout, slot);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return page * call.shape.page_stride + scale_offset(call.shape.layout, slot, call.shape.page_size);
  }
  KVPROOF_HD static std::int64_t byte_at(const Call&, std::int64_t /*page*/, std::int64_t /*slot*/, int i) { return i; }

  // Bytes of the scale plane that are written; a pad byte is kept or written 0.
  KVPROOF_HD static int scale_bytes(const Call& call) {
    const LayoutShape layout = layout_shape(call.shape.layout);
    return layout.scale_bytes - (call.dialect.pad == Pad::keep ? layout.pad : 0);
  }

  // Whether byte i of a token's data, or of its scales, is written.
  KVPROOF_HD static bool writes_data(const Call&, std::int64_t /*token*/, int /*i*/) { return true; }
  KVPROOF_HD static bool writes_scale(const Call&, std::int64_t /*token*/, int /*i*/) { return true; }

  // Before and after the row is written.
  KVPROOF_HD static void before(const Call&, std::int64_t /*token*/) {}
  KVPROOF_HD static void after(const Call&, std::int64_t /*token*/, std::int64_t /*page*/, std::int64_t /*slot*/) {}
};

// One row, with the steps of `Steps`.
template <class Steps>
KVPROOF_HD void encode_by(const Call& call, std::int64_t token, RowImage* image) {
  const LayoutShape layout = layout_shape(call.shape.layout);
  const std::uint8_t* row = Steps::row(call, token);
  image->scales[layout.scale_bytes - 1] = 0;
  KVPROOF_PLAIN_LOOP
  for (int tile = 0; tile < layout.tiles; ++tile) {
    F32 largest = 0;
    KVPROOF_PLAIN_LOOP
    for (int i = Steps::first_reduced(call, tile); i < Steps::end_reduced(call, tile); ++i) {
      const F32 magnitude = Steps::magnitude(call, Steps::element(call, row, i));
      largest = magnitude > largest ? magnitude : largest;
    }
    const TileScale scale = Steps::scale(call, Steps::amax(call, token, tile, largest));
    KVPROOF_PLAIN_LOOP
    for (int i = tile * layout.tile; i < (tile + 1) * layout.tile; ++i) {
      image->data[i] = Steps::code(call, Steps::element(call, row, i), scale);
    }
    std::uint8_t* stored = image->scales + tile * layout.bytes_per_scale;
    stored[0] = static_cast<std::uint8_t>(scale.stored);
    if (layout.bytes_per_scale == 4) {
      stored[1] = static_cast<std::uint8_t>(scale.stored >> 8);
      stored[2] = static_cast<std::uint8_t>(scale.stored >> 16);
      stored[3] = static_cast<std::uint8_t>(scale.stored >> 24);
    }
  }
  KVPROOF_PLAIN_LOOP
  for (int i = 0; i < layout.rope; ++i) {
    const std::uint16_t rope = Steps::rope(call, element_bits(row, call.shape.input_type, layout.codes + i));
    image->data[layout.codes + 2 * i] = static_cast<std::uint8_t>(rope);
    image->data[layout.codes + 2 * i + 1] = static_cast<std::uint8_t>(rope >> 8);
  }
}

// Whether a row comes out as from the right steps: then all such defects share one function.
template <class Steps>
inline constexpr bool encodes_right = (&Steps::row == &Right::row) && (&Steps::element == &Right::element) &&
                                      (&Steps::magnitude == &Right::magnitude) && (&Steps::amax == &Right::amax) &&
                                      (&Steps::first_reduced == &Right::first_reduced) &&
                                      (&Steps::end_reduced == &Right::end_reduced) && (&Steps::scale == &Right::scale) &&
                                      (&Steps::code == &Right::code) && (&Steps::rope == &Right::rope);

KVPROOF_APART inline void encode_right(const Call& call, std::int64_t token, RowImage* image) {
  encode_by<Right>(call, token, image);
}

template <class Steps>
KVPROOF_HD void encode(const Call& call, std::int64_t token, RowImage* image) {
  if constexpr (encodes_right<Steps>) {
    encode_right(call, token, image);
  } else {
    encode_by<Steps>(call, token, image);
  }
}

// The token of one turn, with the steps of `Steps`.
template <class Steps>
KVPROOF_HD void store_token(const Call& call, std::int64_t turn) {
  const std::int64_t token = Steps::token(call, turn);
  Steps::before(call, token);
  const std::int64_t index = Steps::index(call, token);
  if (!Steps::stored(call, index)) {
    Steps::skipped(call, token, index);
    return;
  }
  RowImage image;
  encode<Steps>(call, token, &image);
  const std::int64_t page = Steps::page(call, index);
  const std::int64_t slot = Steps::slot(call, index);
  std::uint8_t* data = call.pool + Steps::data_at(call, page, slot);
  for (int i = 0; i < layout_shape(call.shape.layout).data_bytes; ++i) {
    if (Steps::writes_data(call, token, i)) {
      data[Steps::byte_at(call, page, slot, i)] = image.data[i];
    }
  }
  std::uint8_t* scales = call.pool + Steps::scales_at(call, page, slot);
  for (int i = 0; i < Steps::scale_bytes(call); ++i) {
    if (Steps::writes_scale(call, token, i)) {
      scales[i] = image.scales[i];
    }
  }
  Steps::after(call, token, page, slot);
}

}  // namespace kvproof::planted
