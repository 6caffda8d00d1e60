// The model against the oracle, which shares no code with it: every byte of the pool after a call, in every dialect.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <deque>

#include "extra_counters.h"
#include "kvproof/device/error.h"
#include "kvproof/fuzz/call_format.h"
#include "kvproof/fuzz/case_maker.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/vectors.h"

namespace {

using namespace kvproof;

// The oracle looks through all codes for each element, so batches are short.
constexpr std::size_t most_tokens = 4;

class Target {
 public:
  Target() {
    for (Subject& subject : builtin_host_subjects()) {
      subjects_.push_back(std::move(subject));
      makers_.emplace_back(subjects_.back(), fuzz::CaseLimits{.largest_pool = 8 << 10, .extreme_indices = true});
    }
  }

  void run(std::span<const std::uint8_t> bytes) {
    fuzz::FuzzCall call = fuzz::decoded_call(bytes);
    call.tokens.resize(std::min(call.tokens.size(), most_tokens));
    fuzz::CaseMaker& maker = makers_[call.kernel % makers_.size()];
    FiledCase filed;
    filed.id = "fuzzed";
    filed.dialect_name = maker.subject().dialect_name;
    filed.dialect = maker.subject().dialect;
    maker.make(call, filed.run);
    fuzz::count_features(call, filed.run, filed.dialect);
    filed.expected = expected_runs(filed.run, filed.dialect);
    try {
      confirm_with_oracle(filed);
    } catch (const CannotRun& error) {
      fmt::print(stderr, "{}\n  {}, call: {}\n", error.what(), filed.dialect_name, describe_call(filed.run));
      std::abort();
    }
  }

 private:
  std::deque<Subject> subjects_;
  std::deque<fuzz::CaseMaker> makers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Target target;
  target.run({data, size});
  return 0;
}
