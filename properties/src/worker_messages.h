// What a worker and its parent say to each other.
#pragma once

#include "kvproof/device/child_message.h"
#include "kvproof/properties/worker.h"

namespace kvproof {

enum class Question : std::uint32_t { kernels = 1, open = 2, run = 3, prove = 4 };

enum class Answer : std::uint32_t {
  done = 1,
  bad_input = 2,      // a text, to be thrown as BadInput
  cannot_run = 3,     // a text, to be thrown as CannotRun
  broke_device = 4,   // a text: the device works no longer, after a kernel ran; and the placement of that run
  out_of_memory = 5,  // a text: the kernel's memory ran out
  broke_worker = 6    // a text: something else was thrown after a kernel ran
};

void write(MessageWriter& to, const KernelSource& source);
KernelSource read_source(MessageReader& from);

void write(MessageWriter& to, const std::vector<Subject>& subjects);
std::vector<Subject> read_subjects(MessageReader& from);

void write(MessageWriter& to, const Case& c);
Case read_case(MessageReader& from);

void write(MessageWriter& to, const std::optional<Loosened>& loosened);
std::optional<Loosened> read_loosened(MessageReader& from);

void write(MessageWriter& to, const CaseOutcome& outcome);
CaseOutcome read_outcome(MessageReader& from);

void write(MessageWriter& to, const ProofQuestion& question);
ProofQuestion read_proof_question(MessageReader& from);

void write(MessageWriter& to, const ProofAnswer& answer);
ProofAnswer read_proof_answer(MessageReader& from);

}  // namespace kvproof
