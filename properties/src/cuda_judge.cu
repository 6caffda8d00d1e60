#include <algorithm>
#include <string>

#include "judge_kernels.cuh"
#include "kvproof/device/error.h"
#include "kvproof/properties/cuda_judge.h"

namespace kvproof {
namespace {

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw CannotRun(std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(status) + " (" +
                    std::to_string(static_cast<int>(status)) + ")");
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
  Room<std::int32_t> owners;
  Room<std::uint8_t> data;    // of the rows, packed
  Room<std::uint8_t> scales;  // likewise
  Room<std::uint8_t> input;
  Room<std::uint8_t> indices;
  Room<std::int64_t> contended;
  Room<std::int64_t> contenders_begin;
  Room<std::int32_t> contenders;
  Room<Finding> list;
  Room<unsigned long long> total;
  std::int64_t contended_slots = 0;
  std::int64_t owned_slots = 0;
  cudaStream_t stream = nullptr;

  DeviceFindings findings() const { return {list.data(), total.data()}; }

  // After a refusal nobody owns anything.
  const std::int32_t* owners_of(const ExpectationView& view) const {
    return view.first == nullptr ? nullptr : owners.data();
  }

  // The rows that the host has encoded, apart and packed.
  void rows(const Expectation& expected) {
    const LayoutShape layout = layout_shape(expected.shape.layout);
    std::vector<std::uint8_t> data_bytes(expected.rows.size() * static_cast<std::size_t>(layout.data_bytes));
    std::vector<std::uint8_t> scale_bytes(expected.rows.size() * static_cast<std::size_t>(layout.scale_bytes));
    for (std::size_t token = 0; token < expected.rows.size(); ++token) {
      const RowImage& row = expected.rows[token];
      std::copy_n(row.data, layout.data_bytes, data_bytes.data() + token * static_cast<std::size_t>(layout.data_bytes));
      std::copy_n(row.scales, layout.scale_bytes, scale_bytes.data() + token * static_cast<std::size_t>(layout.scale_bytes));
    }
    data.filled(data_bytes, stream);
    scales.filled(scale_bytes, stream);
    require(cudaStreamSynchronize(stream), "copy of the rows");
  }

  // The rows of all tokens, encoded from the input that is there.
  void encoded(const Expectation& expected) {
    const LayoutShape layout = layout_shape(expected.shape.layout);
    const std::int64_t tokens = expected.shape.tokens;
    const std::int64_t parts = layout.tiles + (layout.rope != 0 ? 1 : 0);
    std::uint8_t* const data_to = data.of(tokens * layout.data_bytes);
    std::uint8_t* const scales_to = scales.of(tokens * layout.scale_bytes);
    encode_rows<<<blocks_for(tokens * parts), threads, 0, stream>>>(expected.shape, expected.dialect, input.data(), data_to,
                                                                    scales_to);
    require(cudaGetLastError(), "encoding");
  }

  // Who owns which slot, and who contends for one.
  void owned(const Expectation& expected) {
    const auto slots = static_cast<std::int64_t>(expected.first.size());
    find_owners<<<blocks_for(slots), threads, 0, stream>>>(first.data(), next.data(), slots, owners.of(slots));
    std::vector<std::int64_t> contended_list;
    std::vector<std::int64_t> begin;
    std::vector<std::int32_t> tokens;
    owned_slots = 0;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      std::int32_t token = expected.first[static_cast<std::size_t>(slot)];
      if (token == nobody) {
        continue;
      }
      ++owned_slots;
      if (expected.next[static_cast<std::size_t>(token)] != nobody) {
        contended_list.push_back(slot);
        begin.push_back(static_cast<std::int64_t>(tokens.size()));
        for (; token != nobody; token = expected.next[static_cast<std::size_t>(token)]) {
          tokens.push_back(token);
        }
      }
    }
    begin.push_back(static_cast<std::int64_t>(tokens.size()));
    contended_slots = static_cast<std::int64_t>(contended_list.size());
    contended.filled(contended_list, stream);
    contenders_begin.filled(begin, stream);
    contenders.filled(tokens, stream);
    require(cudaStreamSynchronize(stream), "preparing the judge");  // the host's copies may go
  }

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
        judge_words<Layout::flashmla><<<blocks, threads, 0, stream>>>(view, owners_of(view), at, chunks, findings());
      } else {
        judge_words<Layout::indexer><<<blocks, threads, 0, stream>>>(view, owners_of(view), at, chunks, findings());
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
    s.rows(expected);
  } else {
    s.encoded(expected);
  }
  s.owned(expected);
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
    const LayoutShape layout = layout_shape(expected.shape.layout);
    view.data = s.data.data();
    view.scales = s.scales.data();
    view.data_stride = layout.data_bytes;
    view.scale_stride = layout.scale_bytes;
  }
  s.pool(view, run.pool);
  if (s.contended_slots != 0 && view.first != nullptr) {
    judge_contended<<<static_cast<unsigned>(s.contended_slots * units_of(view)), contending_threads, 0, s.stream>>>(
        view, run.pool.data, expected.duplicates, {s.contended.data(), s.contenders_begin.data(), s.contenders.data()},
        s.findings());
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
