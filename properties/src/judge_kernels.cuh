// The judge's kernels. Every byte is compared with the rules that the host's judge has too (judge_rules.h); what is as it
// must be is passed over sixteen bytes at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kvproof/properties/judge.h"
#include "kvproof/properties/judge_rules.h"
#include "kvproof/reference/row.h"

namespace kvproof {
namespace {

constexpr int threads = 256;
constexpr int chunk = 16;  // bytes that a thread loads at once
constexpr int chunks_a_thread = 8;
constexpr int loads_in_flight = 4;
constexpr std::int64_t step = std::int64_t{threads} * chunk;
constexpr std::int64_t block_bytes = step * chunks_a_thread;
constexpr std::int64_t listed = 4 * Judgement::kept;  // findings brought back at most, so that the first of them are near it

// The sink of the GPU: a list with an exact count.
struct DeviceFindings {
  Finding* list;
  unsigned long long* total;

  __device__ std::int64_t room(int count) const {
    return static_cast<std::int64_t>(atomicAdd(total, static_cast<unsigned long long>(count)));
  }
  __device__ void put(std::int64_t at, const Finding& finding) const {
    if (at < listed) {
      list[at] = finding;
    }
  }
};

// The owner of a slot that several tokens name.
constexpr std::int32_t several = -2;

// owners[slot]: the one token that may stand there, `nobody`, or `several`.
__global__ void __launch_bounds__(threads)
    find_owners(const std::int32_t* first, const std::int32_t* next, std::int64_t slots, std::int32_t* owners) {
  const std::int64_t slot = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (slot < slots) {
    const std::int32_t token = first[slot];
    owners[slot] = token != nobody && next[token] != nobody ? several : token;
  }
}

// Where a chunk lies.
struct Spot {
  std::int64_t page;
  std::int64_t within;

  __device__ void advance(std::int64_t bytes, std::int64_t page_stride) {
    within += bytes;
    while (within >= page_stride) {
      within -= page_stride;
      ++page;
    }
  }
};

__device__ inline ulonglong2 two_words(const std::uint8_t* at, bool aligned) {
  if (aligned) {
    return *reinterpret_cast<const ulonglong2*>(at);
  }
  return make_ulonglong2(load_word(at), load_word(at + 8));
}

// A block judges 32 KiB, a thread every 256th chunk of it: one division by the page stride a thread. `chunks` whole chunks.
// Nearly all of a pool is one slot's data or a page's tail; such chunks are compared at once, their loads in flight
// together. The others, and all that differ, go to the rules afterwards. `owners` is null after a refusal: everything is
// nobody's.
template <Layout layout>
__global__ void __launch_bounds__(threads)
    judge_words(const __grid_constant__ ExpectationView view, const std::int32_t* owners, const ulonglong2* pool,
                std::int64_t chunks, const __grid_constant__ DeviceFindings findings) {
  constexpr auto data_bytes = static_cast<std::uint32_t>(layout_shape(layout).data_bytes);
  const std::int64_t stride = view.shape.page_stride;
  const bool aligned = stride % chunk == 0;
  const std::uint32_t slots = static_cast<std::uint32_t>(view.shape.page_size);
  const std::uint32_t scales = slots * data_bytes;
  const std::int64_t tail = smallest_page_stride(layout, view.shape.page_size);
  const std::int64_t first = std::int64_t{blockIdx.x} * block_bytes + std::int64_t{threadIdx.x} * chunk;
  Spot spot{first / stride, 0};
  spot.within = first - spot.page * stride;
  const Spot start = spot;
  unsigned left = 0;  // a bit a chunk
#pragma unroll 1
  for (int round = 0; round < chunks_a_thread; round += loads_in_flight) {
    ulonglong2 found[loads_in_flight];
    std::int32_t owner[loads_in_flight];
    std::uint32_t place[loads_in_flight];  // in the slot's data
#pragma unroll
    for (int i = 0; i < loads_in_flight; ++i) {
      const std::int64_t number = first / chunk + (round + i) * threads;
      owner[i] = several;
      if (number < chunks) {
        found[i] = __ldcs(pool + number);
        const auto within = static_cast<std::uint32_t>(spot.within);
        const std::uint32_t slot = within / data_bytes;
        place[i] = within - slot * data_bytes;
        if (within < scales && place[i] + chunk <= data_bytes) {
          owner[i] = owners == nullptr ? nobody : __ldg(owners + spot.page * slots + slot);
        } else if (spot.within >= tail && spot.within + chunk <= stride) {
          owner[i] = nobody;
        } else {
          left |= 1U << (round + i);
        }
      }
      spot.advance(step, stride);
    }
    ulonglong2 expected[loads_in_flight];
#pragma unroll
    for (int i = 0; i < loads_in_flight; ++i) {
      if (owner[i] >= 0) {
        expected[i] = two_words(view.data_of(owner[i]) + place[i], aligned);
      }
    }
#pragma unroll
    for (int i = 0; i < loads_in_flight; ++i) {
      if (owner[i] == nobody) {
        const std::int64_t word = 2 * (first / chunk + (round + i) * threads);
        expected[i] = make_ulonglong2(poison_word(view.poison, word), poison_word(view.poison, word + 1));
      }
      if (owner[i] != several && (expected[i].x != found[i].x || expected[i].y != found[i].y)) {
        left |= 1U << (round + i);
      }
    }
  }
  while (left != 0) {
    const int i = __ffs(static_cast<int>(left)) - 1;
    left &= left - 1;
    Spot at = start;
    at.advance(i * step, stride);
    const std::int64_t offset = first + i * step;
    const ulonglong2 found = pool[offset / chunk];
    judge_two_words<layout>(view, at.page, static_cast<std::uint32_t>(at.within), offset, found.x, found.y, findings);
  }
}

// The bytes [from, to) of the pool one by one: pages that do not begin at words, and what whole chunks leave over.
__global__ void __launch_bounds__(threads)
    judge_bytes(const __grid_constant__ ExpectationView view, const std::uint8_t* pool, std::int64_t from, std::int64_t to,
                const __grid_constant__ DeviceFindings findings) {
  const std::int64_t all = std::int64_t{gridDim.x} * threads;
  for (std::int64_t at = from + std::int64_t{blockIdx.x} * threads + threadIdx.x; at < to; at += all) {
    judge_pool_byte(view, at, pool[at], findings);
  }
}

// The tokens that contend for slots, slot by slot in the order of their chain: those of slots[i] are
// tokens[begin[i]] to tokens[begin[i + 1] - 1].
struct Contenders {
  const std::int64_t* slots;
  const std::int64_t* begin;
  const std::int32_t* tokens;
};

constexpr int contending_threads = 128;
constexpr int largest_unit = 128;  // bytes: a rope, an indexer's tile
static_assert(layout_shape(Layout::flashmla).rope * 2 <= largest_unit && layout_shape(Layout::indexer).tile <= largest_unit);

// A block for each unit of each contended slot; its threads share the contenders out, as there may be a million of them:
// the padding rows of a graph batch all carry index 0.
__global__ void __launch_bounds__(contending_threads)
    judge_contended(const __grid_constant__ ExpectationView view, const std::uint8_t* pool, Duplicates duplicates,
                    const __grid_constant__ Contenders contenders, const __grid_constant__ DeviceFindings findings) {
  __shared__ unsigned long long nearest;  // bytes that differ, then the place in the chain
  __shared__ unsigned of_some[largest_unit / 32];
  const int units = units_of(view);
  const std::int64_t number = blockIdx.x / units;
  const int unit_number = static_cast<int>(blockIdx.x % units);
  const std::int64_t slot = contenders.slots[number];
  const std::int64_t begin = contenders.begin[number];
  const std::int64_t count = contenders.begin[number + 1] - begin;
  const ContendedSlot contended(view, pool, slot / view.shape.page_size, slot % view.shape.page_size);
  const Unit unit = unit_of(view, unit_number);
  if (threadIdx.x == 0) {
    nearest = ~0ULL;
  }
  if (threadIdx.x < largest_unit / 32) {
    of_some[threadIdx.x] = 0;
  }
  __syncthreads();

  const bool rows = duplicates == Duplicates::row;
  int least = 1 << 30;
  for (std::int64_t i = threadIdx.x; i < count && least != 0; i += contending_threads) {
    const int differing =
        contended.differing(contenders.tokens[begin + i], rows ? 0 : unit_number, rows ? units : unit_number + 1, least);
    if (differing < least) {
      least = differing;
      atomicMin(&nearest, static_cast<unsigned long long>(least) << 32 | static_cast<unsigned long long>(i));
    }
  }
  __syncthreads();
  if (nearest >> 32 == 0) {
    return;
  }
  const std::int32_t token = contenders.tokens[begin + static_cast<std::int64_t>(nearest & 0xFFFFFFFFULL)];
  const std::uint8_t* found = pool + contended.offset_of(unit);
  if (duplicates == Duplicates::byte) {
    for (std::int64_t i = threadIdx.x; i < count; i += contending_threads) {
      const std::uint8_t* image = contended.image(contenders.tokens[begin + i], unit);
      for (int byte = 0; byte < unit.count; ++byte) {
        if (image[byte] == found[byte] && (of_some[byte / 32] >> (byte % 32) & 1) == 0) {
          atomicOr(&of_some[byte / 32], 1U << (byte % 32));
        }
      }
    }
    __syncthreads();
  }
  for (int byte = static_cast<int>(threadIdx.x); byte < unit.count; byte += contending_threads) {
    if ((of_some[byte / 32] >> (byte % 32) & 1) == 0) {
      judge_byte(Area::pool, contended.offset_of(unit) + byte, token, static_cast<std::int32_t>(count),
                 contended.image(token, unit)[byte], found[byte], findings);
    }
  }
}

// What is nobody's: bytes [from, to) of a poison, byte `from` at `begin`. Findings are told at offset + `shift`.
struct PoisonSpan {
  const std::uint8_t* begin;
  std::int64_t from;
  std::int64_t to;
  std::int64_t shift;
  std::int64_t modulo;
  Poison poison;
  Area area;
};

struct ShiftedFindings {
  DeviceFindings findings;
  std::int64_t shift;
  std::int64_t modulo;

  __device__ std::int64_t room(int count) const { return findings.room(count); }
  __device__ void put(std::int64_t at, Finding finding) const {
    finding.offset += shift;
    finding.modulo = modulo;
    findings.put(at, finding);
  }
};

__global__ void __launch_bounds__(threads)
    judge_poison(const __grid_constant__ PoisonSpan span, const __grid_constant__ DeviceFindings findings) {
  const ShiftedFindings sink{findings, span.shift, span.modulo};
  const std::int64_t first = (span.from >> 3) + std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t all = std::int64_t{gridDim.x} * threads;
  for (std::int64_t word = first; word * 8 < span.to; word += all) {
    const std::uint8_t* at = span.begin + (word * 8 - span.from);
    if (word * 8 >= span.from && word * 8 + 8 <= span.to && reinterpret_cast<std::uintptr_t>(at) % 8 == 0) {
      judge_poison_word(span.poison, span.area, word, span.from, span.to, load_word(at), sink);
      continue;
    }
    for (std::int64_t i = word * 8; i < word * 8 + 8; ++i) {
      if (i >= span.from && i < span.to) {
        judge_byte(span.area, i, nobody, 0, poison_byte(span.poison, i), span.begin[i - span.from], sink);
      }
    }
  }
}

__global__ void __launch_bounds__(threads)
    judge_given(const std::uint8_t* found, const std::uint8_t* given, std::int64_t count, Area area,
                const __grid_constant__ DeviceFindings findings) {
  const std::int64_t all = std::int64_t{gridDim.x} * threads * 8;
  const bool words = reinterpret_cast<std::uintptr_t>(found) % 8 == 0;
  for (std::int64_t at = (std::int64_t{blockIdx.x} * threads + threadIdx.x) * 8; at < count; at += all) {
    if (words && at + 8 <= count) {
      judge_word({load_word(given + at), all_bytes, all_bytes, nobody, nobody}, area, at, load_word(found + at), findings);
      continue;
    }
    for (std::int64_t i = at; i < at + 8 && i < count; ++i) {
      judge_byte(area, i, nobody, 0, given[i], found[i], findings);
    }
  }
}

// Rows that the host left out, a thread a tile; the last thread of a row copies its rope. `data` and `scales` are packed.
__global__ void __launch_bounds__(threads) encode_rows(StoreShape shape, const __grid_constant__ Dialect dialect,
                                                       const std::uint8_t* input, std::uint8_t* data, std::uint8_t* scales) {
  const LayoutShape layout = layout_shape(dialect.layout);
  const int parts = layout.tiles + (layout.rope != 0 ? 1 : 0);
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= shape.tokens * parts) {
    return;
  }
  const std::int64_t token = at / parts;
  const int part = static_cast<int>(at % parts);
  const std::uint8_t* row = input + token * shape.row_stride;
  data += token * layout.data_bytes;
  scales += token * layout.scale_bytes;
  if (part < layout.tiles) {
    const std::uint8_t limit_code = fp8_limit_code(shape.fp8, dialect_limit(dialect, shape.fp8));
    const int first = part * layout.tile;
    const TileScale scale = encode_tile(row, shape.input_type, first, dialect, shape.fp8, limit_code, data + first);
    for (int byte = 0; byte < layout.bytes_per_scale; ++byte) {
      scales[part * layout.bytes_per_scale + byte] = static_cast<std::uint8_t>(scale.stored >> (8 * byte));
    }
    return;
  }
  for (int i = 0; i < layout.rope; ++i) {
    const std::uint16_t rope = element_to_rope(element_bits(row, shape.input_type, layout.codes + i), shape.input_type);
    data[layout.codes + 2 * i] = static_cast<std::uint8_t>(rope);
    data[layout.codes + 2 * i + 1] = static_cast<std::uint8_t>(rope >> 8);
  }
  for (int i = layout.tiles * layout.bytes_per_scale; i < layout.scale_bytes; ++i) {
    scales[i] = 0;
  }
}

}  // namespace
}  // namespace kvproof
