#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "kvproof/device/error.h"
#include "kvproof/properties/cuda_judge.h"

namespace kvproof {
namespace {

constexpr int threads = 256;
constexpr int chunk = 16;  // bytes that a thread loads at once
constexpr int chunks_a_thread = 8;
constexpr int loads_in_flight = 4;
constexpr std::int64_t step = std::int64_t{threads} * chunk;
constexpr std::int64_t block_bytes = step * chunks_a_thread;
constexpr std::int64_t listed = 4 * Judgement::kept;  // findings brought back at most, so that the first of them are near it

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw CannotRun(std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(status) + " (" +
                    std::to_string(static_cast<int>(status)) + ")");
  }
}

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

// A block judges 32 KiB, a thread every 256th chunk of it: one division by the page stride a thread. `chunks` whole chunks.
template <Layout layout>
__global__ void __launch_bounds__(threads)
    judge_words(const __grid_constant__ ExpectationView view, const ulonglong2* pool, std::int64_t chunks,
                const __grid_constant__ DeviceFindings findings) {
  std::int64_t offset = std::int64_t{blockIdx.x} * block_bytes + std::int64_t{threadIdx.x} * chunk;
  std::int64_t page = offset / view.shape.page_stride;
  std::int64_t within = offset - page * view.shape.page_stride;
#pragma unroll 1
  for (int round = 0; round < chunks_a_thread / loads_in_flight; ++round) {
    ulonglong2 found[loads_in_flight];
#pragma unroll
    for (int i = 0; i < loads_in_flight; ++i) {
      const std::int64_t at = offset / chunk + i * threads;
      if (at < chunks) {
        found[i] = __ldcs(pool + at);
      }
    }
#pragma unroll
    for (int i = 0; i < loads_in_flight; ++i) {
      if (offset / chunk < chunks) {
        judge_two_words<layout>(view, page, static_cast<std::uint32_t>(within), offset, found[i].x, found[i].y, findings);
      }
      offset += step;
      within += step;
      while (within >= view.shape.page_stride) {
        within -= view.shape.page_stride;
        ++page;
      }
    }
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

// Contended slots, a thread a unit; with Duplicates::row every thread finds the same nearest contender.
__global__ void __launch_bounds__(threads)
    judge_contended(const __grid_constant__ ExpectationView view, const std::uint8_t* pool, Duplicates duplicates,
                    const std::int64_t* slots, std::int64_t count, const __grid_constant__ DeviceFindings findings) {
  const int units = units_of(view);
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < count * units) {
    const std::int64_t slot = slots[at / units];
    const ContendedSlot contended(view, pool, slot / view.shape.page_size, slot % view.shape.page_size);
    contended.judge(duplicates, static_cast<int>(at % units), findings);
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

// Rows that the host left out, a thread a tile; the last thread of a row copies its rope.
__global__ void __launch_bounds__(threads)
    encode_rows(StoreShape shape, const __grid_constant__ Dialect dialect, const std::uint8_t* input, RowImage* rows) {
  const LayoutShape layout = layout_shape(dialect.layout);
  const int parts = layout.tiles + (layout.rope != 0 ? 1 : 0);
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= shape.tokens * parts) {
    return;
  }
  const std::int64_t token = at / parts;
  const int part = static_cast<int>(at % parts);
  const std::uint8_t* row = input + token * shape.row_stride;
  RowImage& image = rows[token];
  if (part < layout.tiles) {
    const std::uint8_t limit_code = fp8_limit_code(shape.fp8, dialect_limit(dialect, shape.fp8));
    const int first = part * layout.tile;
    const TileScale scale = encode_tile(row, shape.input_type, first, dialect, shape.fp8, limit_code, image.data + first);
    for (int byte = 0; byte < layout.bytes_per_scale; ++byte) {
      image.scales[part * layout.bytes_per_scale + byte] = static_cast<std::uint8_t>(scale.stored >> (8 * byte));
    }
    return;
  }
  for (int i = 0; i < layout.rope; ++i) {
    const std::uint16_t rope = element_to_rope(element_bits(row, shape.input_type, layout.codes + i), shape.input_type);
    image.data[layout.codes + 2 * i] = static_cast<std::uint8_t>(rope);
    image.data[layout.codes + 2 * i + 1] = static_cast<std::uint8_t>(rope >> 8);
  }
  for (int i = layout.tiles * layout.bytes_per_scale; i < layout.scale_bytes; ++i) {
    image.scales[i] = 0;
  }
}

unsigned blocks_for(std::int64_t items, std::int64_t most = 0x7FFFFFFF) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((items + threads - 1) / threads, 1, most));
}

// Device memory that grows.
template <class T>
class Room {
 public:
  ~Room() { cudaFree(data_); }

  T* of(std::int64_t count) {
    if (count > capacity_) {
      cudaFree(data_);
      data_ = nullptr;
      capacity_ = 0;
      const std::int64_t wanted = std::max<std::int64_t>(count + (count < (std::int64_t{1} << 20) ? count : 0), 64);
      require(cudaMalloc(&data_, static_cast<std::size_t>(wanted) * sizeof(T)), "memory for the judge");
      capacity_ = wanted;
    }
    return data_;
  }

  template <class Values>
  T* filled(const Values& values, cudaStream_t stream) {
    const auto count = static_cast<std::int64_t>(values.size());
    T* at = of(count);
    if (count != 0) {
      require(cudaMemcpyAsync(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
              "copy for the judge");
    }
    return at;
  }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::int64_t capacity_ = 0;
};

}  // namespace

struct CudaJudge::State {
  Room<std::int32_t> first;
  Room<std::int32_t> next;
  Room<RowImage> rows;
  Room<std::uint8_t> input;
  Room<std::uint8_t> indices;
  Room<std::int64_t> contended;
  Room<Finding> list;
  Room<unsigned long long> total;
  std::int64_t contended_slots = 0;
  std::int64_t owned_slots = 0;
  cudaStream_t stream = nullptr;

  DeviceFindings findings() const { return {list.data(), total.data()}; }

  void guards(const GuardedSpan& span, const Poison& poison, Area before, Area after) {
    poisoned({span.begin(), -span.before, 0, 0, 0, poison, before});
    poisoned({span.data + span.size, span.size, span.size + span.after, 0, 0, poison, after});
  }

  void poisoned(const PoisonSpan& span) {
    if (span.from < span.to) {
      judge_poison<<<blocks_for((span.to - span.from) / 8 + 1, 4096), threads, 0, stream>>>(span, findings());
    }
  }

  void given(const GuardedSpan& span, const std::uint8_t* bytes, Area area) {
    if (span.size != 0) {
      judge_given<<<blocks_for(span.size / 8 + 1, 8192), threads, 0, stream>>>(span.data, bytes, span.size, area,
                                                                               findings());
    }
  }

  void pool(const ExpectationView& view, const GuardedSpan& span) {
    const std::int64_t chunks = made_of_words(view.shape) ? span.size / chunk : 0;
    if (chunks != 0) {
      const auto blocks = static_cast<unsigned>((chunks * chunk + block_bytes - 1) / block_bytes);
      const auto* at = reinterpret_cast<const ulonglong2*>(span.data);
      if (view.shape.layout == Layout::flashmla) {
        judge_words<Layout::flashmla><<<blocks, threads, 0, stream>>>(view, at, chunks, findings());
      } else {
        judge_words<Layout::indexer><<<blocks, threads, 0, stream>>>(view, at, chunks, findings());
      }
    }
    if (chunks * chunk < span.size) {
      judge_bytes<<<blocks_for(span.size - chunks * chunk, 65536), threads, 0, stream>>>(view, span.data, chunks * chunk,
                                                                                         span.size, findings());
    }
  }
};

CudaJudge::CudaJudge() : state_(std::make_unique<State>()) {}
CudaJudge::~CudaJudge() = default;

void CudaJudge::prepare(const Expectation& expected, const std::vector<std::uint8_t>& input,
                        const std::vector<std::uint8_t>& indices, void* stream) {
  State& s = *state_;
  s.stream = static_cast<cudaStream_t>(stream);
  s.first.filled(expected.first, s.stream);
  s.next.filled(expected.next, s.stream);
  s.input.filled(input, s.stream);
  s.indices.filled(indices, s.stream);
  if (static_cast<std::int64_t>(expected.rows.size()) == expected.shape.tokens) {
    s.rows.filled(expected.rows, s.stream);
  } else {
    RowImage* rows = s.rows.of(expected.shape.tokens);
    const LayoutShape layout = layout_shape(expected.shape.layout);
    const std::int64_t parts = layout.tiles + (layout.rope != 0 ? 1 : 0);
    encode_rows<<<blocks_for(expected.shape.tokens * parts), threads, 0, s.stream>>>(expected.shape, expected.dialect,
                                                                                     s.input.data(), rows);
    require(cudaGetLastError(), "encoding");
  }
  std::vector<std::int64_t> contended;
  s.owned_slots = 0;
  for (std::size_t slot = 0; slot < expected.first.size(); ++slot) {
    const std::int32_t token = expected.first[slot];
    if (token != nobody) {
      ++s.owned_slots;
      if (expected.next[static_cast<std::size_t>(token)] != nobody) {
        contended.push_back(static_cast<std::int64_t>(slot));
      }
    }
  }
  s.contended_slots = static_cast<std::int64_t>(contended.size());
  s.contended.filled(contended, s.stream);
  s.list.of(listed);
  s.total.of(1);
  require(cudaStreamSynchronize(s.stream), "preparing the judge");  // the host's copies may go
}

void CudaJudge::start(const Expectation& expected, const Observation& seen) {
  State& s = *state_;
  const OnDevice& run = seen.device.value();
  require(cudaMemsetAsync(s.total.data(), 0, sizeof(unsigned long long), s.stream), "clearing the findings");
  ExpectationView view;
  view.shape = expected.shape;
  view.pad_written = expected.dialect.pad == Pad::zero;
  view.poison = pool_poison(seen.poison);
  if (seen.outcome != Outcome::refused) {
    view.first = s.first.data();
    view.next = s.next.data();
    view.rows = s.rows.data();
  }
  s.pool(view, run.pool);
  if (s.contended_slots != 0 && view.first != nullptr) {
    judge_contended<<<blocks_for(s.contended_slots * units_of(view)), threads, 0, s.stream>>>(
        view, run.pool.data, expected.duplicates, s.contended.data(), s.contended_slots, s.findings());
  }
  s.guards(run.pool, view.poison, Area::guard_before_pool, Area::guard_after_pool);
  for (std::size_t side = 0; side < run.mirrors.size(); ++side) {
    const MirrorSpan& mirror = run.mirrors[side];
    s.poisoned({mirror.bytes, 0, mirror.size, mirror.offset, mirror.modulo, mirror.poison,
                side == 0 ? Area::guard_before_pool : Area::guard_after_pool});
  }
  s.guards(run.input, input_poison(seen.poison), Area::guard_before_input, Area::guard_after_input);
  s.given(run.input, s.input.data(), Area::input);
  s.guards(run.indices, indices_poison(seen.poison), Area::guard_before_indices, Area::guard_after_indices);
  s.given(run.indices, s.indices.data(), Area::indices);
  require(cudaGetLastError(), "judging");
}

Judgement CudaJudge::result(const Expectation& expected, const Observation& seen, const std::vector<std::uint8_t>& input) {
  State& s = *state_;
  unsigned long long total = 0;
  require(cudaMemcpyAsync(&total, s.total.data(), sizeof total, cudaMemcpyDeviceToHost, s.stream), "copy of the count");
  require(cudaStreamSynchronize(s.stream), "judging");
  std::vector<Finding> findings(static_cast<std::size_t>(std::min<std::int64_t>(static_cast<std::int64_t>(total), listed)));
  if (!findings.empty()) {
    require(
        cudaMemcpyAsync(findings.data(), s.list.data(), findings.size() * sizeof(Finding), cudaMemcpyDeviceToHost, s.stream),
        "copy of the findings");
    require(cudaStreamSynchronize(s.stream), "judging");
  }
  Judgement verdict =
      named(expected, pool_poison(seen.poison), std::move(findings), static_cast<std::int64_t>(total), input);
  const OnDevice& run = seen.device.value();
  verdict.bytes = run.pool.all() + run.input.all() + run.indices.all();
  verdict.codes = seen.outcome == Outcome::refused ? 0 : s.owned_slots * layout_shape(expected.shape.layout).codes;
  return verdict;
}

}  // namespace kvproof
