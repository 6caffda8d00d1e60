// The judge: every byte of the arena after a run, against the byte it must be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "kvproof/device/arena.h"
#include "kvproof/properties/expectation.h"
#include "kvproof/properties/judge_rules.h"
#include "kvproof/properties/wrong_byte.h"

namespace kvproof {

struct Judgement {
  std::vector<WrongByte> wrong;  // the first `kept` of them, pool first, in order of offset
  std::int64_t wrong_bytes = 0;  // all of them
  // Compared, near guards, input and indices among them. Not those of the far guards and of a sparse pool's untouched pages:
  // that nothing has touched them is known without a look at each.
  std::int64_t bytes = 0;
  std::int64_t codes = 0;      // compared with a value of the model
  std::int64_t explained = 0;  // codes that are not the model's, within the dialect's declared error
  std::optional<WrongByte> explained_example;

  static constexpr std::int64_t kept = 65536;

  bool holds() const { return wrong_bytes == 0; }
};

// Compares all of `seen` with what `expected` says; of a sparse pool `expected` lists the owned slots. `input` and `indices`
// are the bytes that were given to the kernel. A refused run must have changed nothing at all.
Judgement judge(const Expectation& expected, const Observation& seen, const std::vector<std::uint8_t>& input,
                const std::vector<std::uint8_t>& indices);

// What a byte of the pool was before the run, by its offset.
using ByteBefore = std::function<std::uint8_t(std::int64_t offset)>;

// What judges on any machine make of their findings: names, an order, and the rows that strays hold. `findings` are up to
// `Judgement::kept` of `total`; `input` is what was given to the kernel.
Judgement named(const Expectation& expected, const ByteBefore& before, std::vector<Finding> findings, std::int64_t total,
                const std::vector<std::uint8_t>& input);
Judgement named(const Expectation& expected, const Poison& poison, std::vector<Finding> findings, std::int64_t total,
                const std::vector<std::uint8_t>& input);

}  // namespace kvproof
