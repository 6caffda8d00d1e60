// Proving a subject: a whole domain through the kernel, counted, and the lowest wrong row named and filed.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kvproof/properties/case.h"
#include "kvproof/properties/case_runner.h"

namespace kvproof {

// Part `number` of `of`, from 1.
struct Shard {
  std::int64_t number = 1;
  std::int64_t of = 1;

  std::int64_t begin(std::int64_t rows) const { return rows / of * (number - 1) + std::min(number - 1, rows % of); }
  std::int64_t end(std::int64_t rows) const { return rows / of * number + std::min(number, rows % of); }
};

struct ProofTask {
  Domain domain = Domain::scales;
  ElementType input = ElementType::bf16;
  Fp8 fp8 = Fp8::e4m3fn;
  Shard shard;
  std::optional<IndexType> index = {};  // none: the kernel's types take turns
};

// Pages that the kernel would not take, in its words.
struct RefusedPages {
  ProofPages pages;
  std::string refusal;
};

// Calls of so many rows that it would not take in any of so many kinds of pages, in its first words.
struct RefusedCalls {
  std::int64_t rows = 0;
  std::size_t kinds_of_pages = 0;
  std::string refusal;
};

struct ProofFailure {
  std::string summary;  // "amax 0x3f80 (1), x 0xbc01 (-0.007874): code 0x12, expected 0x13, at tile 3 element 17; ..."
  std::vector<std::string> notes;
  std::filesystem::path
      file;  // the row, or the rows that it takes, as a case; empty where there is none or it was not saved
};

struct ProofResult {
  ProofTask task;
  ProofPages pages;                         // of the pool that the rows went to
  std::int64_t rows_a_call = 0;             // at most
  std::vector<RefusedPages> refused_pages;  // tried before, with as many rows a call, or all there are
  std::vector<RefusedCalls> refused_calls;  // tried before
  std::int64_t rows = 0;                    // of the shard
  std::int64_t wanted = 0;                  // the shard's pairs, from the formula
  std::int64_t pairs = 0;                   // compared
  std::int64_t codes = 0;
  std::int64_t bytes = 0;
  std::int64_t explained = 0;     // codes that are not the model's and that the dialect's declared error explains
  std::string explained_example;  // one of them
  std::int64_t refused = 0;       // rows
  std::string refusal;
  double seconds = 0;
  std::optional<ProofFailure> failure;

  bool proved() const { return !failure && pairs == wanted; }
  // The kernel refused all of it: nothing is wrong, and nothing is shown.
  bool compared_nothing() const { return !failure && pairs == 0 && wanted != 0; }
};

// Makes a runner of the subject for one of several jobs, in the thread that will use it.
using MakeRunner = std::function<std::unique_ptr<CaseRunner>()>;

struct ProveOptions {
  std::filesystem::path save = "kvproof-failures";  // empty: failures are not saved
  std::vector<MakeRunner> more;                     // further runners, each worked in a thread of its own
  std::chrono::seconds narrow{60};  // for finding the rows that end the process, or that one takes to be wrong
};

// `each_batch` is called with the pairs compared so far, by one thread at a time. Throws CannotRun when the device breaks. A
// failure that cannot be saved says so in its notes.
ProofResult prove_domain(CaseRunner& runner, const Subject& subject, const ProofTask& task, const ProveOptions& options,
                         const std::function<void(const ProofResult&)>& each_batch);

// "scales", "non-finite", ...
std::string_view name_of(Domain domain);

}  // namespace kvproof
