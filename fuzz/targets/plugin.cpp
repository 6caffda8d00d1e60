// The host kernels that KVPROOF_KERNEL names, FILE.so, FILE.so:NAME or NAME, in the arena and judged byte by byte. Without
// it, the built-in ones. In this process, so that a debugger and a sanitizer see the kernel.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>

#include "extra_counters.h"
#include "kvproof/device/named_kernel.h"
#include "kvproof/fuzz/call_format.h"
#include "kvproof/fuzz/case_maker.h"
#include "kvproof/properties/case_runner.h"
#include "kvproof/properties/describe.h"

namespace {

using namespace kvproof;

std::vector<Subject> subjects_under_test() {
  const char* chosen = std::getenv("KVPROOF_KERNEL");
  const NamedKernel kernel = named_kernel(chosen == nullptr ? "" : chosen);
  std::vector<Subject> subjects = kernel.file.empty() ? builtin_host_subjects() : load_plugin(kernel.file);
  std::erase_if(subjects, [&](const Subject& subject) {
    return subject.memory != MemoryKind::host || (!kernel.name.empty() && subject.name != kernel.name);
  });
  return subjects;
}

class Target {
 public:
  Target() : arena_(host_memory()) {
    for (Subject& subject : subjects_under_test()) {
      subjects_.push_back(std::move(subject));
      makers_.emplace_back(subjects_.back(), fuzz::CaseLimits{});
      runners_.push_back(run_here(arena_, subjects_.back()));
    }
    if (subjects_.empty()) {
      fmt::print(stderr, "KVPROOF_KERNEL={}: no such kernel on the host\n", std::getenv("KVPROOF_KERNEL"));
      std::exit(2);
    }
  }

  void run(std::span<const std::uint8_t> bytes) {
    fuzz::decode_call(bytes, call_);
    const std::size_t kernel = call_.kernel % subjects_.size();
    makers_[kernel].make(call_, case_);
    fuzz::count_features(call_, case_, subjects_[kernel].dialect);
    const CaseOutcome outcome = runners_[kernel]->run_whole(case_);
    if (outcome.breach) {
      fmt::print(stderr, "{}: {}\n  call: {}\n", subjects_[kernel].title(), outcome.breach->summary, describe_call(case_));
      for (std::size_t i = 0; i < outcome.breach->places.size() && i < 8; ++i) {
        fmt::print(stderr, "  {}\n", outcome.breach->places[i]);
      }
      std::abort();
    }
  }

 private:
  Arena arena_;
  std::deque<Subject> subjects_;
  std::deque<fuzz::CaseMaker> makers_;
  std::vector<std::unique_ptr<CaseRunner>> runners_;
  fuzz::FuzzCall call_;
  Case case_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Target target;
  target.run({data, size});
  return 0;
}
