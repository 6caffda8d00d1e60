// What ci/sanitize runs under compute-sanitizer: a short check of CUDA kernels in this very process, in plain allocations,
// with the slots of each call registered. It judges nothing: the tool does. It says how many launches the tool could look
// at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "kvproof/device/error.h"
#include "kvproof/device/memory.h"
#include "kvproof/device/store_call.h"
#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/expectation.h"
#include "regions.h"

namespace {

using namespace kvproof;

struct Options {
  std::string plugin;
  std::string name;
  int cases = 4;
  std::uint64_t seed = 1;
};

struct Counts {
  std::int64_t launches = 0;
  std::int64_t tokens = 0;
  std::int64_t regions = 0;
  bool regions_taken = false;
};

class DeviceBytes {
 public:
  DeviceBytes(Memory& memory, const std::vector<std::uint8_t>& bytes)
      : memory_(memory), pointer_(memory.allocate(bytes.empty() ? 1 : bytes.size())) {
    if (!bytes.empty()) {
      memory.copy_in(pointer_, bytes.data(), bytes.size());
    }
  }
  ~DeviceBytes() { memory_.release(pointer_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  void* get() const { return pointer_; }

 private:
  Memory& memory_;
  void* pointer_;
};

void launch(Memory& memory, const Subject& subject, const Case& c, Counts& counts) {
  const Expectation expected = expect(c, subject.dialect, subject.duplicates);
  const DeviceBytes pool(memory, std::vector<std::uint8_t>(static_cast<std::size_t>(c.shape.pool_bytes()), 0x5A));
  const DeviceBytes input(memory, c.input);
  const DeviceBytes indices(memory, index_bytes_of(c));
  const kvproof_store_call call = store_call(c.shape, pool.get(), input.get(), indices.get(), memory.stream());
  const sanitizer::SlotRegions regions(static_cast<const std::uint8_t*>(pool.get()), expected);
  const char* message = nullptr;
  const std::int32_t status = subject.store(subject.state, &call, &message);
  memory.synchronize();
  if (status == KVPROOF_FAILED) {
    throw CannotRun(fmt::format("{}: {}", subject.title(), message != nullptr ? message : "failed"));
  }
  if (status == KVPROOF_STORED && c.shape.tokens > 0) {
    ++counts.launches;
    counts.tokens += c.shape.tokens;
    counts.regions += static_cast<std::int64_t>(regions.count());
    counts.regions_taken = counts.regions_taken || regions.taken();
  }
}

int probe(const Options& options) {
  std::vector<Subject> subjects = options.plugin.empty() ? builtin_cuda_subjects() : load_plugin(options.plugin);
  std::erase_if(subjects, [&](const Subject& subject) {
    return subject.memory != MemoryKind::cuda || (!options.name.empty() && subject.name != options.name);
  });
  if (subjects.empty()) {
    throw BadInput(fmt::format("--name {}: no such CUDA kernel", options.name));
  }
  const auto memory = cuda_memory();
  Counts counts;
  Draw draw(options.seed);
  for (const Subject& subject : subjects) {
    for (int i = 0; i < options.cases; ++i) {
      launch(*memory, subject, draw_case(draw, subject, CaseFocus{}, 20), counts);
    }
  }
  fmt::print("probe: {} kernels, {} launches, {} tokens, {} regions {}\n", subjects.size(), counts.launches, counts.tokens,
             counts.regions, counts.regions_taken ? "registered" : "not taken by any tool");
  return counts.launches > 0 ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs CUDA kernels over a few cases, for compute-sanitizer to watch");
  Options options;
  app.add_option("--plugin", options.plugin, "Plug-in (default: the built-in kernels)");
  app.add_option("--name", options.name, "Only kernels of this name");
  app.add_option("--cases", options.cases, "Cases a kernel")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Seed of the cases");
  CLI11_PARSE(app, argc, argv);
  try {
    return probe(options);
  } catch (const kvproof::BadInput& error) {
    fmt::print(stderr, "probe: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "probe: {}\n", error.what());
    return 3;
  }
}
