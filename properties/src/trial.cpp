#include "kvproof/properties/trial.h"

#include <fmt/format.h>

#include "kvproof/device/error.h"
#if defined(KVPROOF_HAS_CUDA)
#include "kvproof/properties/cuda_judge.h"
#endif

namespace kvproof {
namespace {

// Each poison has its placement of input and indices, so that an over-read at either end faults in one of the runs.
Placement placement_of(std::size_t run) { return run == 0 ? Placement::end_flush : Placement::start_flush; }

// The steps that the kernel did not refuse. Tokens on two streams at once contend as those of one call do.
std::vector<Step> stored_steps(const Launch& launch, const StoreShape& shape, const Observation& seen) {
  std::vector<Step> steps = steps_of(launch, shape);
  if (launch.mode == LaunchMode::two_streams) {
    return {StoreTokens{0, shape.tokens}};
  }
  for (auto refused = seen.refused_steps.rbegin(); refused != seen.refused_steps.rend(); ++refused) {
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(*refused));
  }
  return steps;
}

#if defined(KVPROOF_HAS_CUDA)
constexpr std::int64_t copied_pool = std::int64_t{16} << 20;  // properties that look at values read the host's copy
constexpr std::int64_t encoded_on_host = 1024;                // tokens; more are encoded on the GPU

void judge_in_place(Arena& arena, const std::vector<std::uint8_t>& indices, const Launch& launch, Trial& trial) {
  const Case& c = *trial.run;
  const Subject& subject = *trial.subject;
  if (!arena.judge_state) {
    arena.judge_state = std::make_shared<CudaJudge>();
  }
  CudaJudge& judge = *static_cast<CudaJudge*>(arena.judge_state.get());
  for (std::size_t i = 0; i < trial.seen.size(); ++i) {
    trial.seen[i] =
        arena.run_in_place(subject, c.shape, c.input, indices, Poison{c.poison_seed, i == 1}, placement_of(i), launch);
    if (i == 0) {
      trial.expected =
          expect(c, subject.dialect, subject.duplicates, c.shape.tokens <= encoded_on_host ? Rows::encoded : Rows::left_out,
                 stored_steps(launch, c.shape, trial.seen[0]));
      judge.prepare(trial.expected, c.input, indices, trial.seen[i].device.value().stream);
    }
    trial.judged[i] = judge.judge(trial.expected, trial.seen[i], c.input);
    if (c.shape.pool_bytes() <= copied_pool) {
      arena.copy_pool(trial.seen[i]);
    }
    trial.seen[i].device.reset();
  }
}
#endif

}  // namespace

Trial try_case(Arena& arena, const Subject& subject, const Case& c, const Launch& launch) {
  if (const auto contradiction = case_contradiction(c, subject.dialect)) {
    throw BadInput(*contradiction);
  }
  Trial trial;
  trial.subject = &subject;
  trial.run = &c;
  const std::vector<std::uint8_t> indices = index_bytes_of(c);
#if defined(KVPROOF_HAS_CUDA)
  if (arena.runs_in_place()) {
    judge_in_place(arena, indices, launch, trial);
    return trial;
  }
#endif
  for (std::size_t i = 0; i < trial.seen.size(); ++i) {
    trial.seen[i] = arena.run(subject, c.shape, c.input, indices, Poison{c.poison_seed, i == 1}, placement_of(i), launch);
    if (i == 0) {
      trial.expected =
          expect(c, subject.dialect, subject.duplicates, Rows::encoded, stored_steps(launch, c.shape, trial.seen[0]),
                 trial.seen[0].sparse ? Slots::owned : Slots::all);
    }
    trial.judged[i] = judge(trial.expected, trial.seen[i], c.input, indices);
  }
  return trial;
}

std::optional<std::string> misbehaviour(const Trial& trial) {
  for (const Observation& seen : trial.seen) {
    if (seen.outcome == Outcome::failed) {
      return fmt::format("the kernel failed: {}", seen.message);
    }
  }
  if (trial.seen[0].outcome != trial.seen[1].outcome || trial.seen[0].refused_steps != trial.seen[1].refused_steps) {
    return std::string("the kernel refused one of two equal calls: ") + trial.seen[0].message + trial.seen[1].message;
  }
  return std::nullopt;
}

}  // namespace kvproof
