// The same on the GPU, for kernels there: rows are made where they are stored from, compared where they land, and only
// counts and the lowest wrong row come back.
//
// A lane makes, encodes and compares 16 elements: FlashMLA takes 32 lanes a row, the last four for the rope; the indexer 8.
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "call.h"
#include "kvproof/device/error.h"
#include "kvproof/reference/declared_error.h"

namespace kvproof {
namespace {

constexpr int threads = 256;
constexpr int lane_values = 16;
constexpr std::int64_t none = INT64_MAX;

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw CannotRun(std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(status) + " (" +
                    std::to_string(static_cast<int>(status)) + ")");
  }
}

struct Totals {
  unsigned long long pairs;
  unsigned long long wrong_rows;
  unsigned long long wrong_bytes;
  unsigned long long explained;
  long long first_wrong;
  long long first_explained;
};

struct Batch {
  DomainView view;
  Dialect dialect;
  StoreShape shape;
  SlotOrder order;
  std::int64_t first;
  std::uint8_t* input;
  std::uint8_t* indices;
  std::uint8_t* pool;
  Totals* totals;
};

// What one lane is there for.
template <Layout layout>
struct Part {
  static constexpr LayoutShape shape = layout_shape(layout);
  static constexpr int lanes = shape.row_values / lane_values;
  static constexpr int lanes_a_tile = shape.tile / lane_values;
  static constexpr int rows_a_block = threads / lanes;

  std::int64_t row;  // within the batch
  int lane;          // within the row
  bool active;

  __device__ explicit Part(const Batch& batch)
      : row(std::int64_t{blockIdx.x} * rows_a_block + static_cast<int>(threadIdx.x) / lanes),
        lane(static_cast<int>(threadIdx.x) % lanes),
        active(row < batch.shape.tokens) {}

  __device__ bool rope() const { return lane * lane_values >= shape.codes; }
  __device__ int tile() const { return lane / lanes_a_tile; }
  __device__ bool first_of_tile() const { return !rope() && lane % lanes_a_tile == 0; }
};

// What a lane's elements are, and the bytes that must come of them.
struct Made {
  std::uint32_t elements[lane_values];
  uint4 bytes[2];  // 16 codes, or 16 rope values
  TileScale scale;
  int pairs;
};

template <Quantise rule>
__device__ void encode(const F32 (&values)[lane_values], const TileScale& scale, const Dialect& dialect, Fp8 fp8,
                       std::uint8_t limit_code, std::uint32_t (&words)[4]) {
#pragma unroll
  for (int i = 0; i < lane_values; ++i) {
    const std::uint8_t code = rule == Quantise::power_of_two ? quantise_by_shift(values[i], scale, dialect, fp8, limit_code)
                                                             : quantise_by<rule>(values[i], scale, dialect, fp8, limit_code);
    words[i / 4] |= static_cast<std::uint32_t>(code) << (8 * (i % 4));
  }
}

// Every lane of a warp comes here, for the reduction.
template <Layout layout>
__device__ void make(const Batch& batch, const Part<layout>& part, Made& made) {
  constexpr LayoutShape shape = layout_shape(layout);
  const DomainView& view = batch.view;
  const Patterns patterns = patterns_of(view.type);
  __shared__ std::int64_t first_group;
  if (enumerates(view.domain) && threadIdx.x == 0) {
    first_group = group_of(view, (batch.first + std::int64_t{blockIdx.x} * Part<layout>::rows_a_block) * shape.tiles);
  }
  __syncthreads();
  const std::int64_t row = batch.first + part.row;
  made.pairs = 0;
  made.scale = {};
  if (part.rope()) {
    std::uint32_t words[8] = {};
#pragma unroll
    for (int i = 0; i < lane_values; ++i) {
      const RopeElement rope = rope_element(view, row, part.lane * lane_values - shape.codes + i);
      made.elements[i] = rope.pattern;
      made.pairs += rope.counts ? 1 : 0;
      words[i / 2] |= static_cast<std::uint32_t>(element_to_rope(rope.pattern, view.type)) << (16 * (i % 2));
    }
    made.bytes[0] = make_uint4(words[0], words[1], words[2], words[3]);
    made.bytes[1] = make_uint4(words[4], words[5], words[6], words[7]);
  } else {
    const CodeGroup* group = view.groups;
    if (enumerates(view.domain)) {
      group += group_from(view, first_group, row * shape.tiles + part.tile());
    }
    const TilePlan plan = tile_plan(view, row, part.tile(), group);
    made.pairs = part.first_of_tile() ? plan.pairs : 0;
    const int first = part.lane % Part<layout>::lanes_a_tile * lane_values;
#pragma unroll
    for (int i = 0; i < lane_values; ++i) {
      made.elements[i] = tile_element(plan, patterns.sign, shape.tile, first + i);
    }
  }
  F32 values[lane_values];
  F32 amax = 0;
#pragma unroll
  for (int i = 0; i < lane_values; ++i) {
    values[i] = element_to_f32(made.elements[i], view.type);
    amax = max(amax, amax_contribution(values[i], batch.dialect.infinity));
  }
#pragma unroll
  for (int distance = 1; distance < Part<layout>::lanes_a_tile; distance *= 2) {
    amax = max(amax, __shfl_xor_sync(0xFFFFFFFFU, amax, distance));
  }
  if (part.rope()) {
    return;
  }
  const Fp8 fp8 = batch.shape.fp8;
  const std::uint8_t limit_code = fp8_limit_code(fp8, dialect_limit(batch.dialect, fp8));
  const TileScale scale = tile_scale(amax, batch.dialect, fp8);
  std::uint32_t words[4] = {};
  if (scale.exact_shift) {
    encode<Quantise::power_of_two>(values, scale, batch.dialect, fp8, limit_code, words);
  } else if (batch.dialect.quantise == Quantise::divide) {
    encode<Quantise::divide>(values, scale, batch.dialect, fp8, limit_code, words);
  } else {
    encode<Quantise::multiply_reciprocal>(values, scale, batch.dialect, fp8, limit_code, words);
  }
  made.bytes[0] = make_uint4(words[0], words[1], words[2], words[3]);
  made.scale = scale;
}

// Where a lane's bytes lie.
template <Layout layout>
struct Target {
  uint4* data;
  std::uint8_t* scale;
  std::uint8_t* pad;

  __device__ Target(const Batch& batch, const Part<layout>& part) {
    constexpr LayoutShape shape = layout_shape(layout);
    const std::int64_t index = batch.order.index(part.row);
    std::uint8_t* page = batch.pool + index / batch.shape.page_size * batch.shape.page_stride;
    const std::int64_t slot = index % batch.shape.page_size;
    const int at = part.rope() ? shape.codes + 2 * (part.lane * lane_values - shape.codes) : part.lane * lane_values;
    data = reinterpret_cast<uint4*>(page + data_offset(layout, slot) + at);
    scale = page + scale_offset(layout, slot, batch.shape.page_size) + part.tile() * shape.bytes_per_scale;
    pad = page + scale_offset(layout, slot, batch.shape.page_size) + shape.scale_bytes - 1;
  }
};

__device__ uint4 complement(uint4 x) { return make_uint4(~x.x, ~x.y, ~x.z, ~x.w); }

// The input, the indices, and the complement of what must come into each slot.
template <Layout layout>
__global__ void __launch_bounds__(threads) lay_rows(const __grid_constant__ Batch batch) {
  const Part<layout> part(batch);
  Made made;
  make<layout>(batch, part, made);
  if (!part.active) {
    return;
  }
  auto* to = reinterpret_cast<uint4*>(batch.input + part.row * batch.shape.row_stride +
                                      part.lane * lane_values * element_bytes(batch.view.type));
  if (batch.view.type == ElementType::fp32) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      to[i] = make_uint4(made.elements[4 * i], made.elements[4 * i + 1], made.elements[4 * i + 2], made.elements[4 * i + 3]);
    }
  } else {
    std::uint32_t words[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      words[i] = made.elements[2 * i] | made.elements[2 * i + 1] << 16;
    }
    to[0] = make_uint4(words[0], words[1], words[2], words[3]);
    to[1] = make_uint4(words[4], words[5], words[6], words[7]);
  }
  const Target<layout> target(batch, part);
  target.data[0] = complement(made.bytes[0]);
  if (part.rope()) {
    target.data[1] = complement(made.bytes[1]);
  }
  if (part.first_of_tile()) {
    for (int byte = 0; byte < Part<layout>::shape.bytes_per_scale; ++byte) {
      target.scale[byte] = static_cast<std::uint8_t>(~(made.scale.stored >> (8 * byte)));
    }
  }
  if (part.lane == 0) {
    if (Part<layout>::shape.pad != 0) {
      *target.pad = pad_before(batch.first + part.row, batch.dialect.pad);
    }
    if (batch.shape.index_type == IndexType::int32) {
      reinterpret_cast<std::int32_t*>(batch.indices)[part.row] = static_cast<std::int32_t>(batch.order.index(part.row));
    } else {
      reinterpret_cast<std::int64_t*>(batch.indices)[part.row] = batch.order.index(part.row);
    }
  }
}

// Bytes in which two words differ.
__device__ int different(std::uint32_t a, std::uint32_t b) { return __popc(__vcmpne4(a, b)) / 8; }

__device__ int different(uint4 a, uint4 b) {
  return different(a.x, b.x) + different(a.y, b.y) + different(a.z, b.z) + different(a.w, b.w);
}

// Of 16 codes that a lane found, those that are not the model's and that the dialect's declared error explains.
__device__ int explained_codes(const Batch& batch, const Made& made, uint4 found) {
  const Fp8 fp8 = batch.shape.fp8;
  const std::uint8_t limit_code = fp8_limit_code(fp8, dialect_limit(batch.dialect, fp8));
  const std::uint32_t words[4] = {found.x, found.y, found.z, found.w};
  const std::uint32_t expected[4] = {made.bytes[0].x, made.bytes[0].y, made.bytes[0].z, made.bytes[0].w};
  int explained = 0;
  for (int i = 0; i < lane_values; ++i) {
    const auto code = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
    if (code != static_cast<std::uint8_t>(expected[i / 4] >> (8 * (i % 4)))) {
      const F32 x = element_to_f32(made.elements[i], batch.view.type);
      explained += explained_by_declared_error(x, made.scale, batch.dialect, fp8, limit_code, code) ? 1 : 0;
    }
  }
  return explained;
}

// The first lane of each row on which something is so.
template <Layout layout>
__device__ bool first_of_row(bool so) {
  const unsigned lanes = __ballot_sync(0xFFFFFFFFU, so);
  const auto in_warp = static_cast<int>(threadIdx.x) % 32;
  const unsigned mine = Part<layout>::lanes == 32 ? 0xFFFFFFFFU : 0xFFU << (in_warp / 8 * 8);
  return __ffs(static_cast<int>(lanes & mine)) - 1 == in_warp;
}

// `declared`: the dialect declares an error.
template <Layout layout, bool declared>
__global__ void __launch_bounds__(threads) compare_rows(const __grid_constant__ Batch batch) {
  const Part<layout> part(batch);
  __shared__ unsigned pairs;
  if (threadIdx.x == 0) {
    pairs = 0;
  }
  Made made;
  make<layout>(batch, part, made);  // synchronizes the block, so `pairs` is 0 for all
  int wrong = 0;
  int explained = 0;
  if (part.active) {
    const Target<layout> target(batch, part);
    const uint4 found = __ldcs(target.data);
    wrong = different(found, made.bytes[0]);
    if (declared && wrong != 0 && !part.rope()) {
      explained = explained_codes(batch, made, found);
      wrong -= explained;
    }
    if (part.rope()) {
      wrong += different(__ldcs(target.data + 1), made.bytes[1]);
    }
    if (part.first_of_tile()) {
      for (int byte = 0; byte < Part<layout>::shape.bytes_per_scale; ++byte) {
        wrong += target.scale[byte] != static_cast<std::uint8_t>(made.scale.stored >> (8 * byte)) ? 1 : 0;
      }
    }
    if (Part<layout>::shape.pad != 0 && part.lane == 0) {
      wrong += *target.pad != pad_after(batch.first + part.row, batch.dialect.pad) ? 1 : 0;
    }
  } else {
    made.pairs = 0;
  }
  const unsigned of_warp = __reduce_add_sync(0xFFFFFFFFU, static_cast<unsigned>(made.pairs));
  if (threadIdx.x % 32 == 0 && of_warp != 0) {
    atomicAdd(&pairs, of_warp);
  }
  const bool first_wrong = first_of_row<layout>(wrong != 0);
  if (wrong != 0) {
    atomicAdd(&batch.totals->wrong_bytes, static_cast<unsigned long long>(wrong));
    if (first_wrong) {
      atomicAdd(&batch.totals->wrong_rows, 1ULL);
      atomicMin(&batch.totals->first_wrong, static_cast<long long>(part.row));
    }
  }
  if (declared && explained != 0) {
    atomicAdd(&batch.totals->explained, static_cast<unsigned long long>(explained));
    atomicMin(&batch.totals->first_explained, static_cast<long long>(part.row));
  }
  __syncthreads();
  if (threadIdx.x == 0 && pairs != 0) {
    atomicAdd(&batch.totals->pairs, static_cast<unsigned long long>(pairs));
  }
}

// Device memory that grows.
class Room {
 public:
  Room() = default;
  ~Room() { cudaFree(data_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  template <class T = std::uint8_t>
  T* of(std::int64_t count) {
    const std::int64_t bytes = std::max<std::int64_t>(count, 1) * static_cast<std::int64_t>(sizeof(T));
    if (bytes > size_) {
      cudaFree(data_);
      data_ = nullptr;
      size_ = 0;
      require(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "memory for a proof");
      size_ = bytes;
    }
    return static_cast<T*>(data_);
  }

  template <class T>
  const T* filled(const std::vector<T>& values) {
    T* at = of<T>(static_cast<std::int64_t>(values.size()));
    if (!values.empty()) {
      require(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copy for a proof");
    }
    return at;
  }

 private:
  void* data_ = nullptr;
  std::int64_t size_ = 0;
};

class CudaRunner final : public ProofRunner {
 public:
  explicit CudaRunner(const Subject& subject) : subject_(subject), memory_(cuda_memory()) {}

  ProofAnswer run(const ProofQuestion& question) override {
    const ProofDomain& domain = domain_.of(question, subject_.dialect);
    Batch batch{};
    batch.view = domain.view();
    batch.view.groups = groups_.filled(domain.groups());
    if (batch.view.amaxes != nullptr) {
      batch.view.amaxes = amaxes_.filled(domain.amaxes());
    }
    batch.dialect = subject_.dialect;
    ProofAnswer answer;
    for (std::int64_t first = question.first; first < question.last && !answer.failure && answer.wrong_rows == 0;
         first += question.rows_a_call) {
      const std::int64_t rows = std::min(question.rows_a_call, question.last - first);
      batch.first = first;
      batch.order = slot_order(rows);
      batch.shape = proof_shape(subject_, question, rows, index_type_at(subject_, question, first));
      if (batch.shape.layout == Layout::flashmla) {
        call<Layout::flashmla>(batch, answer);
      } else {
        call<Layout::indexer>(batch, answer);
      }
    }
    return answer;
  }

 private:
  template <Layout layout>
  void call(Batch& batch, ProofAnswer& answer) {
    const StoreShape& shape = batch.shape;
    constexpr LayoutShape places = layout_shape(layout);
    batch.input = input_.of(shape.input_bytes());
    batch.indices = indices_.of(shape.indices_bytes());
    batch.pool = pool_.of(shape.pool_bytes());
    batch.totals = totals_.of<Totals>(1);
    const auto stream = static_cast<cudaStream_t>(memory_->stream());
    constexpr std::int64_t a_block = Part<layout>::rows_a_block;
    const auto blocks = static_cast<unsigned>((shape.tokens + a_block - 1) / a_block);
    const Totals clear{0, 0, 0, 0, none, none};
    require(cudaMemcpyAsync(batch.totals, &clear, sizeof clear, cudaMemcpyHostToDevice, stream), "clearing the counts");
    lay_rows<layout><<<blocks, threads, 0, stream>>>(batch);
    require(cudaGetLastError(), "making rows");
    require(cudaStreamSynchronize(stream), "making rows");
    if (!store_rows(subject_, shape, batch.input, batch.pool, batch.indices, *memory_, answer)) {
      return;
    }
    if (batch.dialect.reciprocal_ulp != 0) {
      compare_rows<layout, true><<<blocks, threads, 0, stream>>>(batch);
    } else {
      compare_rows<layout, false><<<blocks, threads, 0, stream>>>(batch);
    }
    require(cudaGetLastError(), "comparing rows");
    Totals totals{};
    require(cudaMemcpyAsync(&totals, batch.totals, sizeof totals, cudaMemcpyDeviceToHost, stream), "copy of the counts");
    require(cudaStreamSynchronize(stream), "comparing rows");
    answer.pairs += static_cast<std::int64_t>(totals.pairs);
    answer.codes += shape.tokens * places.codes;
    answer.bytes += shape.tokens * places.token_bytes();
    answer.wrong_rows += static_cast<std::int64_t>(totals.wrong_rows);
    answer.wrong_bytes += static_cast<std::int64_t>(totals.wrong_bytes);
    answer.explained += static_cast<std::int64_t>(totals.explained);
    if (totals.explained != 0 && answer.explained_row < 0) {
      answer.explained_row = batch.first + totals.first_explained;
      fetch(batch, totals.first_explained, answer.explained_found);
    }
    if (totals.wrong_rows != 0) {
      answer.first_wrong = batch.first + totals.first_wrong;
      answer.index_type = shape.index_type;
      fetch(batch, totals.first_wrong, answer.found);
    }
  }

  static void fetch(const Batch& batch, std::int64_t row, RowImage& found) {
    const StoreShape& shape = batch.shape;
    const LayoutShape places = layout_shape(shape.layout);
    const std::int64_t index = batch.order.index(row);
    const std::uint8_t* page = batch.pool + index / shape.page_size * shape.page_stride;
    const std::int64_t slot = index % shape.page_size;
    require(cudaMemcpy(found.data, page + data_offset(shape.layout, slot), static_cast<std::size_t>(places.data_bytes),
                       cudaMemcpyDeviceToHost),
            "copy of a wrong row");
    require(cudaMemcpy(found.scales, page + scale_offset(shape.layout, slot, shape.page_size),
                       static_cast<std::size_t>(places.scale_bytes), cudaMemcpyDeviceToHost),
            "copy of a wrong row");
  }

  const Subject& subject_;
  std::unique_ptr<Memory> memory_;
  KnownDomain domain_;
  Room input_;
  Room indices_;
  Room pool_;
  Room totals_;
  Room groups_;
  Room amaxes_;
};

}  // namespace

std::unique_ptr<ProofRunner> cuda_proof_runner(const Subject& subject) { return std::make_unique<CudaRunner>(subject); }

}  // namespace kvproof
