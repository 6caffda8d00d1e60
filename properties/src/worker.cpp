#include "kvproof/properties/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fault_name.h"
#include "kvproof/device/error.h"
#include "worker_messages.h"

namespace kvproof {
namespace {

// Loading a library and starting a device takes longer than a case.
ChildLimits for_loading(const ChildLimits& limits) { return {3 * limits.time, limits.memory}; }

// Of a kernel that once did not return: every further case that does not would cost the whole limit again.
ChildLimits after_a_hang(const ChildLimits& limits) {
  const std::chrono::milliseconds shorter = std::max<std::chrono::milliseconds>(limits.time / 10, std::chrono::seconds(1));
  return {std::min(limits.time, shorter), limits.memory};
}

// A large case takes longer to be sent, stored and judged, whatever the kernel.
ChildLimits for_case_of(std::size_t bytes, const ChildLimits& limits) {
  constexpr std::size_t bytes_a_second = 4 << 20;
  return {limits.time + std::chrono::seconds(bytes / bytes_a_second), limits.memory};
}

std::string text_of(const Frame& frame) {
  MessageReader reader(frame.bytes);
  std::string text = reader.text();
  reader.end();
  return text;
}

Breach verdict(const std::string& what, std::vector<std::string> last_lines) {
  Breach breach;
  breach.summary = "the kernel " + what;
  breach.ended = true;
  for (std::string& line : last_lines) {
    breach.places.push_back("it printed: " + std::move(line));
  }
  return breach;
}

Breach broken_device(const Frame& frame) {
  MessageReader reader(frame.bytes);
  Breach breach = verdict("broke the device: " + reader.text(), {});
  breach.broke_device = reader.choice(Placement::start_flush);
  reader.end();
  return breach;
}

Breach malformed(const BadMessage& error) {
  return verdict(fmt::format("broke the process it ran in: its answer is malformed ({})", error.what()), {});
}

class InChild final : public CaseRunner {
 public:
  InChild(std::shared_ptr<Worker> worker, std::size_t subject) : worker_(std::move(worker)), subject_(subject) {}

  CaseOutcome run(const Property& property, const Case& c) override { return worker_->run(subject_, &property, c); }
  CaseOutcome run_whole(const Case& c) override { return worker_->run(subject_, nullptr, c); }
  void name_fault(const Property* property, const Case& c, Breach& breach) override {
    worker_->name_fault(subject_, property, c, breach);
  }
  std::optional<CaseOutcome> run_afresh(const Property* property, const Case& c) override {
    return worker_->run_afresh(subject_, property, c);
  }
  ProofAnswer prove(const ProofQuestion& question) override { return worker_->prove(subject_, question); }
  std::string device() override { return worker_->device(subject_); }
  bool isolated() const override { return true; }

 private:
  std::shared_ptr<Worker> worker_;
  std::size_t subject_;
};

}  // namespace

Worker::Worker(WorkerSetup setup) : setup_(std::move(setup)) {}

// An answer to a question during which no kernel runs: an ending is no verdict on one.
std::vector<std::uint8_t> Worker::loading_answer(std::uint32_t kind, const std::vector<std::uint8_t>& question,
                                                 const char* doing) {
  const std::string who = setup_.source.file.empty() ? "the built-in kernels" : setup_.source.file;
  auto answer = child_->ask(kind, question, for_loading(setup_.limits));
  if (const auto* ending = std::get_if<ChildEnding>(&answer)) {
    child_.reset();
    throw CannotRun(fmt::format("{}: the process {} while {}{}", who, describe(*ending), doing,
                                ending->last_lines.empty() ? "" : "; it printed: " + ending->last_lines.back()));
  }
  Frame& frame = std::get<Frame>(answer);
  try {
    switch (static_cast<Answer>(frame.kind)) {
      case Answer::done:
        return std::move(frame.bytes);
      case Answer::bad_input:
        throw BadInput(text_of(frame));
      default:
        throw CannotRun(text_of(frame));
    }
  } catch (const BadInput&) {
    child_.reset();
    throw;
  } catch (const CannotRun&) {
    child_.reset();
    throw;
  } catch (const BadMessage& error) {
    child_.reset();
    throw CannotRun(fmt::format("{}: the process gave no proper answer while {}: {}", who, doing, error.what()));
  }
}

void Worker::start() {
  if (child_) {
    return;
  }
  open_.clear();
  ran_.reset();
  child_ = std::make_unique<Child>(setup_.arguments);
  ++starts_;
  MessageWriter question;
  write(question, setup_.source);
  const std::vector<std::uint8_t> answer =
      loading_answer(static_cast<std::uint32_t>(Question::kernels), question.bytes(), "they were loaded");
  std::vector<Subject> found;
  try {
    MessageReader reader(answer);
    found = read_subjects(reader);
    reader.end();
  } catch (const BadMessage& error) {
    child_.reset();
    throw CannotRun(fmt::format("{}: the kernels cannot be listed: {}", setup_.source.file, error.what()));
  }
  if (!subjects_) {
    subjects_ = std::move(found);
    devices_.resize(subjects_->size());
    return;
  }
  const bool same =
      std::equal(found.begin(), found.end(), subjects_->begin(), subjects_->end(),
                 [](const Subject& a, const Subject& b) { return a.title() == b.title() && a.dialect == b.dialect; });
  if (!same) {
    child_.reset();
    throw CannotRun(fmt::format("{}: loaded again, it brings other kernels than before", setup_.source.file));
  }
}

const std::vector<Subject>& Worker::subjects() {
  if (!subjects_) {
    start();
  }
  return *subjects_;
}

void Worker::open(std::size_t subject) {
  start();
  if (open_.contains(subject)) {
    return;
  }
  MessageWriter question;
  question.value(static_cast<std::uint64_t>(subject));
  const std::vector<std::uint8_t> answer =
      loading_answer(static_cast<std::uint32_t>(Question::open), question.bytes(), "its memory was set up");
  try {
    MessageReader reader(answer);
    devices_.at(subject) = reader.text();
    reader.end();
  } catch (const BadMessage& error) {
    child_.reset();
    throw CannotRun(fmt::format("{}: the process named no device: {}", setup_.source.file, error.what()));
  }
  open_.insert(subject);
}

std::string Worker::device(std::size_t subject) {
  subjects();
  if (devices_.at(subject).empty()) {
    open(subject);
  }
  return devices_[subject];
}

std::variant<std::vector<std::uint8_t>, Breach> Worker::kernel_answer(std::size_t subject, std::uint32_t kind,
                                                                      const std::vector<std::uint8_t>& question) {
  const ChildLimits limits = hung_.contains(subject) ? after_a_hang(setup_.limits) : setup_.limits;
  const std::optional<std::size_t> ran_before = std::exchange(ran_, subject);
  auto answer = child_->ask(kind, question, for_case_of(question.size(), limits));
  if (auto* ending = std::get_if<ChildEnding>(&answer)) {
    child_.reset();
    std::string what = describe(*ending);
    if (ending->how == ChildEnding::How::time) {
      hung_.insert(subject);
      if (limits.time < setup_.limits.time) {
        ending->limits = for_case_of(question.size(), setup_.limits);
        what += ", the limit once another case " + describe(*ending);
      }
    }
    Breach breach = verdict(what, std::move(ending->last_lines));
    breach.hung = ending->how == ChildEnding::How::time;
    return breach;
  }
  Frame& frame = std::get<Frame>(answer);
  const auto lost = [&](const std::string& what) {
    Breach breach = verdict(what + text_of(frame), {});
    child_.reset();  // what was started on the device is lost
    return breach;
  };
  try {
    switch (static_cast<Answer>(frame.kind)) {
      case Answer::done:
        return std::move(frame.bytes);
      case Answer::bad_input:
        throw BadInput(text_of(frame));
      case Answer::cannot_run:
        if (!ran_before) {
          throw CannotRun(text_of(frame));
        }
        return in_a_fresh_process(subject, kind, question, *ran_before, text_of(frame));
      case Answer::broke_device: {
        Breach breach = broken_device(frame);
        child_.reset();
        return breach;
      }
      case Answer::out_of_memory:
        return lost("ran out of memory: ");
      case Answer::broke_worker:
        return lost("broke the process it ran in: ");
    }
    throw BadMessage("an answer of an unknown kind");
  } catch (const BadMessage& error) {
    child_.reset();
    return malformed(error);
  }
}

// A process that cannot make a case ready may have been broken by what ran in it: one in which nothing has run tells.
std::variant<std::vector<std::uint8_t>, Breach> Worker::in_a_fresh_process(std::size_t subject, std::uint32_t kind,
                                                                           const std::vector<std::uint8_t>& question,
                                                                           std::size_t ran_before, const std::string& why) {
  child_.reset();
  open(subject);
  auto answer = kernel_answer(subject, kind, question);
  if (ran_before != subject || std::holds_alternative<Breach>(answer)) {
    return answer;
  }
  return verdict(fmt::format("left its process unable to run another case: {}", why), {});
}

CaseOutcome Worker::run(std::size_t subject, const Property* property, const Case& c,
                        const std::optional<Loosened>& loosened) {
  open(subject);
  MessageWriter question;
  question.value(static_cast<std::uint64_t>(subject));
  question.text(property != nullptr ? std::string(property->name) : std::string{});
  write(question, loosened);
  write(question, c);
  CaseOutcome outcome;
  auto answer = kernel_answer(subject, static_cast<std::uint32_t>(Question::run), question.bytes());
  if (auto* breach = std::get_if<Breach>(&answer)) {
    outcome.breach = std::move(*breach);
    return outcome;
  }
  try {
    MessageReader reader(std::get<0>(answer));
    outcome = read_outcome(reader);
    reader.end();
  } catch (const BadMessage& error) {
    child_.reset();
    outcome = {};
    outcome.breach = malformed(error);
  }
  return outcome;
}

void Worker::name_fault(std::size_t subject, const Property* property, const Case& c, Breach& breach) {
  if (!breach.broke_device) {
    return;
  }
  // The runs are the same, and everything is compared.
  const Property* asked = property != nullptr && property->over_runs != nullptr ? property : nullptr;
  const auto run_loose = [&](Given which) {
    child_.reset();  // what ran before must not matter
    return run(subject, asked, c, Loosened{which, *breach.broke_device});
  };
  try {
    if (const auto name = fault_name(*breach.broke_device, asked == nullptr, run_loose)) {
      breach.summary += "; " + *name;
    }
  } catch (const CannotRun&) {  // the breach stays, without a name
  } catch (const BadInput&) {
  }
}

CaseOutcome Worker::run_afresh(std::size_t subject, const Property* property, const Case& c) {
  child_.reset();
  return run(subject, property, c);
}

ProofAnswer Worker::prove(std::size_t subject, const ProofQuestion& rows) {
  open(subject);
  MessageWriter question;
  question.value(static_cast<std::uint64_t>(subject));
  write(question, rows);
  const auto failed = [](const Breach& breach) {
    ProofAnswer none;
    none.failure = breach.summary;
    none.last_lines = breach.places;
    return none;
  };
  auto answer = kernel_answer(subject, static_cast<std::uint32_t>(Question::prove), question.bytes());
  if (const auto* breach = std::get_if<Breach>(&answer)) {
    return failed(*breach);
  }
  try {
    MessageReader reader(std::get<0>(answer));
    ProofAnswer proved = read_proof_answer(reader);
    reader.end();
    return proved;
  } catch (const BadMessage& error) {
    child_.reset();
    return failed(malformed(error));
  }
}

std::unique_ptr<CaseRunner> run_in_child(std::shared_ptr<Worker> worker, std::size_t subject) {
  return std::make_unique<InChild>(std::move(worker), subject);
}

}  // namespace kvproof
