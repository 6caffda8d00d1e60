// The arithmetic of addresses, apart from pointers: bytes from the pool's base, or from a page's. A kernel runs it over
// std::int64_t, the address proof over expressions, so what is proved is what runs.
#pragma once

#include "kernels/block.h"

namespace kvproof::kernels {

template <class Number>
KVPROOF_LANE Number page_begin(const Number& page, const Number& page_stride) {
  return page * page_stride;
}

template <class Number>
KVPROOF_LANE Number slot_of(const Number& index, const Number& page, const Number& page_size) {
  return index - page * page_size;
}

struct FlashmlaAddress {
  template <class Number>
  static KVPROOF_LANE Number data(const Number& slot) {
    return slot * 576;
  }
  template <class Number>
  static KVPROOF_LANE Number scales(const Number& slot, const Number& page_size) {
    return page_size * 576 + slot * 8;
  }
};

struct IndexerAddress {
  template <class Number>
  static KVPROOF_LANE Number data(const Number& slot) {
    return slot * 128;
  }
  template <class Number>
  static KVPROOF_LANE Number scales(const Number& slot, const Number& page_size) {
    return page_size * 128 + slot * 4;
  }
};

}  // namespace kvproof::kernels
