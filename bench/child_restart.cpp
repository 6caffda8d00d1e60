#include "child_restart.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "kvproof/device/error.h"
#include "kvproof/device/subject.h"
#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/worker.h"

namespace kvproof::bench {
namespace {

using Clock = std::chrono::steady_clock;

const std::string worker_word = "worker";

std::size_t position(Worker& worker, const std::string& name, const std::string& device) {
  const MemoryKind memory = device == "cuda" ? MemoryKind::cuda : MemoryKind::host;
  const std::vector<Subject>& all = worker.subjects();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Subject& one) {
    return one.name == name && one.memory == memory && one.dialect.layout == Layout::flashmla;
  });
  if (at == all.end()) {
    throw BadInput(fmt::format("the planted plug-in has no kernel {} for {}", name, device));
  }
  return static_cast<std::size_t>(at - all.begin());
}

}  // namespace

Restart child_restart(const std::string& planted, const std::string& device, int times) {
  Worker worker(WorkerSetup{{worker_word}, {planted, device}, {}});
  const std::size_t right = position(worker, "right", device);
  const std::size_t aborts = position(worker, "abort", device);
  Draw draw(1);
  Case c = draw_case(draw, worker.subjects()[right], CaseFocus{}, 8);
  while (c.shape.tokens == 0) {
    c = draw_case(draw, worker.subjects()[right], CaseFocus{}, 8);
  }
  const auto seconds = [&] {
    const Clock::time_point start = Clock::now();
    if (const auto breach = worker.run(right, nullptr, c).breach) {
      throw CannotRun(fmt::format("the right kernel is accused: {}", breach->summary));
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  Restart restart;
  restart.times = times;
  restart.first = seconds();
  restart.device = worker.device(right);
  for (int i = 0; i < times; ++i) {
    if (!worker.run(aborts, nullptr, c).breach) {
      throw CannotRun("the kernel that aborts did not");
    }
    const double took = seconds();
    restart.mean += took / times;
    restart.slowest = std::max(restart.slowest, took);
  }
  return restart;
}

int serve(int argc, char** argv) {
  if (argc != 3 || argv[1] != worker_word) {
    return -1;
  }
  return serve_cases(std::atoi(argv[2]), [](const KernelSource& source) { return load_plugin(source.file); });
}

}  // namespace kvproof::bench
