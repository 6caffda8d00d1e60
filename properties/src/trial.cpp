#include "kvproof/properties/trial.h"

#include <fmt/format.h>

#include "kvproof/device/error.h"

namespace kvproof {

Trial try_case(Arena& arena, const Subject& subject, const Case& c) {
  if (const auto contradiction = case_contradiction(c, subject.dialect)) {
    throw BadInput(*contradiction);
  }
  Trial trial;
  trial.subject = &subject;
  trial.run = &c;
  trial.expected = expect(c, subject.dialect, subject.duplicates);
  const std::vector<std::uint8_t> indices = index_bytes_of(c);
  for (std::size_t i = 0; i < trial.seen.size(); ++i) {
    trial.seen[i] = arena.run(subject, c.shape, c.input, indices, Poison{c.poison_seed, i == 1});
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
  if (trial.seen[0].outcome != trial.seen[1].outcome) {
    return std::string("the kernel refused one of two equal calls: ") + trial.seen[0].message + trial.seen[1].message;
  }
  return std::nullopt;
}

}  // namespace kvproof
