// A child process that answers questions and may die of them: the parent neither dies nor waits beyond its limits.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kvproof/device/child_channel.h"
#include "kvproof/device/child_fault.h"

namespace kvproof {

struct ChildLimits {
  std::chrono::milliseconds time{10'000};       // for one answer
  std::int64_t memory = std::int64_t{8} << 30;  // bytes that one answer may add to the child's own memory
};

// How a child ended instead of answering.
struct ChildEnding {
  enum class How : std::uint32_t {
    signal,  // `number` is the signal
    exit,    // `number` is the status
    time,    // no answer in time
    memory,  // more memory than allowed
    closed,  // the channel is closed and the process lives on
    garbled  // what came through the channel is no answer
  };
  How how = How::exit;
  int number = 0;
  ChildLimits limits;
  std::optional<FaultReport> fault;
  std::vector<std::string> last_lines;  // of what it printed
};

// What it did, for a sentence whose subject is the kernel: "crashed: SIGSEGV (Segmentation fault), read 0 bytes past the end
// of the input", "did not return within 10 s", "called exit(3)".
std::string describe(const ChildEnding& ending);

class Child {
 public:
  // Starts this very program with `arguments` and, after them, the number of the channel's descriptor. Its standard input is
  // empty; what it prints is read and the end of it kept. Throws CannotRun when no process can be had.
  explicit Child(const std::vector<std::string>& arguments);
  // Ends the process and all of its process group.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Asks and waits for the answer. After an ending the process is gone and nothing more may be asked.
  std::variant<Frame, ChildEnding> ask(std::uint32_t kind, std::span<const std::uint8_t> bytes, const ChildLimits& limits);

  bool alive() const { return process_ > 0; }
  pid_t process() const { return process_; }

 private:
  class Conversation;

  void drain();
  std::optional<int> ended(std::chrono::milliseconds patience);
  void end(std::chrono::milliseconds patience);
  std::vector<std::string> last_lines();

  pid_t process_ = -1;
  int channel_ = -1;
  int output_ = -1;
  std::uint64_t secret_ = 0;
  std::uint64_t questions_ = 0;
  std::vector<std::uint8_t> received_;
  std::string printed_;
};

// For a program whose only children are these: processes that a kernel left behind, out of its process group, are ended too.
void adopt_strays();

// SIGINT, SIGTERM and SIGHUP end the children before they end this program, as they would have.
void end_children_on_signals();

}  // namespace kvproof
