// Guarded memory, the judge on the GPU and the replacement of processes, next to a device copy and a memset of the same run.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <random>

#include "child_restart.h"
#include "kvproof/device/cuda_poison.h"
#include "kvproof/device/error.h"
#include "kvproof/device/store_call.h"
#include "kvproof/properties/cuda_judge.h"
#include "kvproof/properties/describe.h"

namespace kvproof {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw CannotRun(fmt::format("CUDA: {} failed: {}", what, cudaGetErrorString(status)));
  }
}

class Stopwatch {
 public:
  Stopwatch() {
    require(cudaEventCreate(&begin_), "cudaEventCreate");
    require(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Seconds of GPU time of one `work`, the mean of `repeats` after one that does not count.
  double seconds(void* stream, int repeats, const std::function<void()>& work) {
    const auto queue = static_cast<cudaStream_t>(stream);
    work();
    require(cudaEventRecord(begin_, queue), "cudaEventRecord");
    for (int i = 0; i < repeats; ++i) {
      work();
    }
    require(cudaEventRecord(end_, queue), "cudaEventRecord");
    require(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) / 1e3 / repeats;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double tera(std::int64_t bytes, double seconds) { return static_cast<double>(bytes) / seconds / 1e12; }

Subject strict(Layout layout) {
  for (const Subject& subject : builtin_cuda_subjects()) {
    if (subject.dialect_name == "strict" && subject.dialect.layout == layout) {
      return subject;
    }
  }
  throw CannotRun("no strict kernel");
}

// Bytes read a second by a device copy, and written by a memset.
struct Rates {
  double copy;
  double memset;
};

Rates device_rates(Stopwatch& watch, void* stream) {
  constexpr std::int64_t bytes = 8 * gib;
  void* from = nullptr;
  void* to = nullptr;
  require(cudaMalloc(&from, bytes), "cudaMalloc");
  require(cudaMalloc(&to, bytes), "cudaMalloc");
  const auto queue = static_cast<cudaStream_t>(stream);
  const double copy = watch.seconds(stream, 5, [&] { cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue); });
  const double set = watch.seconds(stream, 5, [&] { cudaMemsetAsync(to, 1, bytes, queue); });
  cudaFree(from);
  cudaFree(to);
  return {tera(bytes, copy), tera(bytes, set)};
}

// `tokens` rows to slots in random order, each slot once.
Case random_case(Layout layout, std::int64_t pages, std::int64_t tokens) {
  Case c;
  c.shape.layout = layout;
  c.shape.pages = pages;
  c.shape.page_size = 64;
  c.shape.page_stride = production_page_stride(layout, 64);
  c.shape.tokens = tokens;
  c.shape.row_stride = c.shape.row_bytes();
  c.poison_seed = 5;
  std::mt19937_64 random(3);
  c.input.resize(static_cast<std::size_t>(c.shape.input_bytes()));
  for (std::size_t at = 0; at + 8 <= c.input.size(); at += 8) {
    const std::uint64_t four = random() & 0xBFFFBFFFBFFFBFFFULL;
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&four), 8, c.input.data() + at);
  }
  const std::int64_t capacity = c.shape.capacity();
  if (tokens * 4 > capacity) {
    c.indices.resize(static_cast<std::size_t>(capacity));
    std::iota(c.indices.begin(), c.indices.end(), 0);
    std::shuffle(c.indices.begin(), c.indices.end(), random);
    c.indices.resize(static_cast<std::size_t>(tokens));
    return c;
  }
  while (static_cast<std::int64_t>(c.indices.size()) < tokens) {
    while (static_cast<std::int64_t>(c.indices.size()) < tokens) {
      c.indices.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(capacity)));
    }
    std::sort(c.indices.begin(), c.indices.end());
    c.indices.erase(std::unique(c.indices.begin(), c.indices.end()), c.indices.end());
  }
  std::shuffle(c.indices.begin(), c.indices.end(), random);
  return c;
}

struct Measured {
  double fill = 0;  // seconds
  double store = 0;
  double judge = 0;           // all that the judge compares
  double judge_pool = 0;      // the pool and its guards alone
  double prepare = 0;         // on the wall
  std::int64_t bytes = 0;     // of the pool
  std::int64_t compared = 0;  // by the judge: pool, guards, input, indices
};

Measured measure(Arena& arena, Stopwatch& watch, const Case& c, int repeats) {
  const Subject subject = strict(c.shape.layout);
  const std::vector<std::uint8_t> indices = index_bytes_of(c);
  const Expectation expected = expect(c, subject.dialect, subject.duplicates, Rows::left_out);
  const Poison poison{c.poison_seed, false};
  Observation seen = arena.run_in_place(subject, c.shape, c.input, indices, poison, Placement::end_flush);
  OnDevice& on = *seen.device;
  CudaJudge judge;
  Measured m;
  m.bytes = c.shape.pool_bytes();
  const double began = now();
  judge.prepare(expected, c.input, indices, on.stream);
  m.prepare = now() - began;
  const Judgement verdict = judge.judge(expected, seen, c.input);
  if (!verdict.holds()) {
    throw CannotRun(fmt::format("the judge finds {} wrong bytes: {}", verdict.wrong_bytes, summarise(verdict)));
  }
  m.compared = verdict.bytes;
  m.judge = watch.seconds(on.stream, repeats, [&] { judge.start(expected, seen); });
  const GuardedSpan input = on.input;
  on.input.size = on.input.before = on.input.after = 0;
  m.judge_pool = watch.seconds(on.stream, repeats, [&] { judge.start(expected, seen); });
  on.input = input;
  m.fill = watch.seconds(on.stream, repeats, [&] {
    fill_poison_on_cuda(pool_poison(poison), -on.pool.before, on.pool.begin(), on.pool.all(), on.stream);
  });
  const kvproof_store_call call = store_call(c.shape, on.pool.data, on.input.data, on.indices.data, on.stream);
  const char* message = nullptr;
  m.store = watch.seconds(on.stream, repeats, [&] {
    if (subject.store(subject.state, &call, &message) != KVPROOF_STORED) {
      throw CannotRun("the store failed");
    }
  });
  return m;
}

void print_restarts(const std::string& planted) {
  for (const char* device : {"host", "cuda"}) {
    const bench::Restart restart = bench::child_restart(planted, device, 10);
    fmt::print("child restart, {:<15} {:6.1f} ms on average, {:.1f} ms at most of {}; the first {:.1f} ms ({})\n", device,
               restart.mean * 1e3, restart.slowest * 1e3, restart.times, restart.first * 1e3, restart.device);
  }
}

int measure_all(const std::string& planted) {
  if (const std::string absence = cuda_absence(); !absence.empty()) {
    throw CannotRun(fmt::format("no GPU: {}", absence));
  }
  Stopwatch watch;
  std::unique_ptr<Memory> memory = cuda_memory();
  void* const stream = memory->stream();
  fmt::print("device                         {}\n", memory->device());
  const Rates device = device_rates(watch, stream);
  fmt::print("device copy                    {:6.2f} TB/s read (and as much written)\n", device.copy);
  fmt::print("memset                         {:6.2f} TB/s\n", device.memset);

  const double began = now();
  Arena arena(std::move(memory));
  fmt::print("arena set-up                   {:6.1f} ms, guards of {} MiB on each side ({})\n", (now() - began) * 1e3,
             arena.reach() >> 20, arena.device());

  const auto line = [&](const char* what, std::int64_t bytes, double seconds, double against, const char* name) {
    const double rate = tera(bytes, seconds);
    fmt::print("{:<30} {:6.2f} TB/s, {:.2f} of the {}\n", what, rate, rate / against, name);
  };
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    const std::int64_t pages = 8 * gib / production_page_stride(layout, 64);
    const char* name = layout == Layout::flashmla ? "flashmla" : "indexer";
    const Measured empty = measure(arena, watch, random_case(layout, pages, 1), 5);
    line(fmt::format("fill, {}", name).c_str(), empty.bytes, empty.fill, device.memset, "memset");
    line(fmt::format("judge unowned, {}", name).c_str(), empty.bytes, empty.judge, device.copy, "copy's read rate");
    const std::int64_t full_pages = 2 * gib / production_page_stride(layout, 64);
    const Measured full = measure(arena, watch, random_case(layout, full_pages, full_pages * 64), 5);
    line(fmt::format("judge fully written, {}", name).c_str(), full.compared, full.judge, device.copy, "copy's read rate");
    line("  its pool alone", full.bytes, full.judge_pool, device.copy, "copy's read rate");
    fmt::print("  a pool of {:.1f} GiB, {} tokens; preparing {:.0f} ms on the wall, among it {} rows encoded on the GPU\n",
               static_cast<double>(full.bytes) / gib, full_pages * 64, full.prepare * 1e3, full_pages * 64);
  }

  std::size_t free = 0;
  std::size_t all = 0;
  require(cudaMemGetInfo(&free, &all), "cudaMemGetInfo");
  // The arena gives its pool back before it takes a larger one.
  const std::int64_t wanted = 100 * gib;
  const std::int64_t spare = 10 * gib;
  const std::int64_t bytes = std::min<std::int64_t>(wanted, static_cast<std::int64_t>(free) + 8 * gib - spare);
  if (bytes < gib) {
    throw CannotRun("no memory for the large pool");
  }
  const std::int64_t pages = bytes / production_page_stride(Layout::flashmla, 64);
  const Measured large = measure(arena, watch, random_case(Layout::flashmla, pages, std::int64_t{1} << 20), 3);
  const double total = large.fill + large.store + large.judge;
  fmt::print("large pool: {:.1f} GiB{}, 1,048,576 tokens at random slots\n", static_cast<double>(large.bytes) / gib,
             bytes < wanted ? " (100 GiB wanted, memory is short)" : "");
  fmt::print("  fill {:.1f} ms, store {:.2f} ms, judge {:.1f} ms: {:.3f} s of GPU time; preparing {:.0f} ms on the wall\n",
             large.fill * 1e3, large.store * 1e3, large.judge * 1e3, total, large.prepare * 1e3);
  line("  judge", large.bytes, large.judge, device.copy, "copy's read rate");
  if (planted.empty()) {
    fmt::print("child restart: not measured, it needs --planted\n");
  } else {
    print_restarts(planted);
  }
  return 0;
}

}  // namespace
}  // namespace kvproof

int main(int argc, char** argv) {
  if (const int status = kvproof::bench::serve(argc, argv); status >= 0) {
    return status;
  }
  CLI::App app("Guarded memory, the judge and child processes, next to a device copy of the same run");
  std::string planted;
  app.add_option("--planted", planted, "planted.so, for the time in which a process is replaced")->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  try {
    return kvproof::measure_all(planted);
  } catch (const std::exception& error) {
    fmt::print(stderr, "arena_bench: {}\n", error.what());
    return 3;
  }
}
