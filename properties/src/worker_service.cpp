// The worker's side of the channel.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "kvproof/device/child_fault.h"
#include "kvproof/device/error.h"
#include "worker_messages.h"

namespace kvproof {
namespace {

class Service {
 public:
  Service(ChildEnd& channel, const LoadKernels& load) : channel_(channel), load_(load) {}

  int serve() {
    while (const std::optional<Frame> frame = channel_.question()) {
      const std::uint64_t calls = watched_calls();
      try {
        MessageReader question(frame->bytes);
        MessageWriter answer;
        reply(static_cast<Question>(frame->kind), question, answer);
        send(Answer::done, answer.bytes());
      } catch (const BadInput& error) {
        say(Answer::bad_input, error.what());
      } catch (const CannotRun& error) {
        watched_calls() == calls ? say(Answer::cannot_run, error.what()) : say_broken(error.what());
      } catch (const std::bad_alloc& error) {
        say(watched_calls() == calls ? Answer::cannot_run : Answer::out_of_memory, error.what());
      } catch (const std::exception& error) {
        say(watched_calls() == calls ? Answer::cannot_run : Answer::broke_worker, error.what());
      }
    }
    return 0;
  }

 private:
  struct Opened {
    std::shared_ptr<Arena> arena;
    std::unique_ptr<CaseRunner> runner;
  };

  void reply(Question question, MessageReader& from, MessageWriter& to) {
    switch (question) {
      case Question::kernels:
        subjects_ = load_(read_source(from));
        from.end();
        write(to, subjects_);
        return;
      case Question::open:
        to.text(open(from.value<std::uint64_t>()).runner->device());
        return;
      case Question::run: {
        const Opened& opened = open(from.value<std::uint64_t>());
        const std::string name = from.text();
        const std::optional<Loosened> loosened = read_loosened(from);
        const Case c = read_case(from);
        from.end();
        at_work_ = opened.arena.get();
        at_work_->loosen(loosened);
        write(to, name.empty() ? opened.runner->run_whole(c) : opened.runner->run(property(name), c));
        return;
      }
      case Question::prove: {
        const Opened& opened = open(from.value<std::uint64_t>());
        const ProofQuestion rows = read_proof_question(from);
        from.end();
        write(to, opened.runner->prove(rows));
        return;
      }
    }
    throw CannotRun("a question that this worker does not know");
  }

  Opened& open(std::uint64_t at) {
    if (at >= subjects_.size()) {
      throw CannotRun(fmt::format("kernel {} of {}", at, subjects_.size()));
    }
    Opened& opened = opened_[at];
    if (!opened.runner) {
      const Subject& subject = subjects_[at];
      // A plug-in's own memory belongs to the descriptor that brings it.
      const std::string key = subject.memory == MemoryKind::own ? subject.title() : "";
      std::shared_ptr<Arena>& arena = arenas_[{subject.memory, key}];
      if (!arena) {
        arena = std::make_shared<Arena>(memory_of(subject));
      }
      opened.arena = arena;
      opened.runner = run_here(*arena, subject);
    }
    return opened;
  }

  static const Property& property(const std::string& name) {
    if (const Property* known = find_property(name)) {
      return *known;
    }
    throw CannotRun(fmt::format("property {}: not known to this worker", name));
  }

  void send(Answer answer, const std::vector<std::uint8_t>& bytes) {
    channel_.answer(static_cast<std::uint32_t>(answer), bytes);
  }

  void say(Answer answer, const std::string& text) {
    MessageWriter message;
    message.text(text);
    send(answer, message.bytes());
  }

  void say_broken(const std::string& text) {
    MessageWriter message;
    message.text(text);
    message.value(at_work_ != nullptr ? at_work_->placement() : Placement::end_flush);
    send(Answer::broke_device, message.bytes());
  }

  ChildEnd& channel_;
  const LoadKernels& load_;
  std::vector<Subject> subjects_;
  std::map<std::pair<MemoryKind, std::string>, std::shared_ptr<Arena>> arenas_;
  std::map<std::uint64_t, Opened> opened_;
  Arena* at_work_ = nullptr;  // that of the last case
};

// When the machine's memory runs out, the system ends this process first.
void volunteer_for_the_out_of_memory_killer() {
  if (std::FILE* file = std::fopen("/proc/self/oom_score_adj", "w")) {
    std::fputs("1000", file);
    std::fclose(file);
  }
}

}  // namespace

int serve_cases(int channel, const LoadKernels& load) {
  // What a kernel prints just before it crashes is worth most.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  volunteer_for_the_out_of_memory_killer();
  ChildEnd end(channel);
  report_faults(end);
  return Service(end, load).serve();
}

}  // namespace kvproof
