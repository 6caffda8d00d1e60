#include "kvproof/device/child.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "child_memory.h"
#include "child_registry.h"
#include "child_start.h"
#include "kvproof/device/error.h"

namespace kvproof {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds tick{10};            // between two looks at the child's memory and life
constexpr milliseconds farewell{1000};      // for a child that has closed its channel to be gone
constexpr std::size_t printed_kept = 4096;  // bytes

std::string signal_name(int signal) {
  const char* short_name = sigabbrev_np(signal);
  return short_name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", short_name);
}

std::string seconds(milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000) : fmt::format("{} ms", time.count());
}

}  // namespace

// One question and what comes of it.
class Child::Conversation {
 public:
  Conversation(Child& child, std::uint32_t kind, std::span<const std::uint8_t> bytes, const ChildLimits& limits)
      : child_(child), limits_(limits), body_(bytes) {
    header_.secret = child.secret_;
    header_.question = ++child.questions_;
    header_.kind = kind;
    header_.length = bytes.size();
    header_.checksum = frame_checksum(bytes);
  }

  std::variant<Frame, ChildEnding> hold() {
    const Clock::time_point start = Clock::now();
    const Clock::time_point deadline = start + limits_.time;
    Clock::time_point next_look = start + tick;
    bool open = true;
    send_some();
    while (true) {
      if (std::optional<Frame> answer = next_frame()) {
        return std::move(*answer);
      }
      if (garbled_) {
        return ended_as(ChildEnding::How::garbled);
      }
      if (!open) {
        return gone();
      }
      const Clock::time_point now = Clock::now();
      if (now >= deadline) {
        return ended_as(ChildEnding::How::time);
      }
      if (now >= next_look) {
        next_look = now + tick;
        if (const auto status = child_.ended(milliseconds(0))) {
          static_cast<void>(receive());  // what it said last
          static_cast<void>(next_frame());
          return ending_of(*status);
        }
        const std::int64_t memory = own_memory_of(child_.process_, memory_before_ ? limits_.memory : 0);
        memory_before_ = memory_before_.value_or(memory);
        if (memory - *memory_before_ > limits_.memory) {
          return ended_as(ChildEnding::How::memory);
        }
      }
      open = wait(std::min(deadline, next_look) - now);
    }
  }

 private:
  // Sends and receives what can be; false once the channel is closed.
  bool wait(Clock::duration time) {
    const bool sending = sent_ < sizeof header_ + body_.size();
    std::array<pollfd, 2> descriptors{pollfd{child_.channel_, static_cast<short>(POLLIN | (sending ? POLLOUT : 0)), 0},
                                      pollfd{child_.output_, POLLIN, 0}};  // poll passes over a descriptor of -1
    const auto rounded = std::chrono::ceil<milliseconds>(time);
    poll(descriptors.data(), descriptors.size(), static_cast<int>(std::max<milliseconds::rep>(1, rounded.count())));
    if (descriptors[1].revents != 0) {
      child_.drain();
    }
    if (sending && (descriptors[0].revents & POLLOUT) != 0) {
      send_some();
    }
    return (descriptors[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0 || receive();
  }

  void send_some() {
    std::array<iovec, 2> parts{};
    std::size_t count = 0;
    if (sent_ < sizeof header_) {
      parts[count++] = {reinterpret_cast<std::uint8_t*>(&header_) + sent_, sizeof header_ - sent_};
    }
    const std::size_t of_body = sent_ > sizeof header_ ? sent_ - sizeof header_ : 0;
    if (of_body < body_.size()) {
      parts[count++] = {const_cast<std::uint8_t*>(body_.data()) + of_body, body_.size() - of_body};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t put = sendmsg(child_.channel_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    sent_ += put > 0 ? static_cast<std::size_t>(put) : 0;  // a closed channel shows when it is read
  }

  // Takes in what has come; false at the end of the channel.
  bool receive() {
    std::vector<std::uint8_t>& all = child_.received_;
    while (all.size() <= longest_frame + sizeof(FrameHeader)) {
      const ssize_t got = recv(child_.channel_, chunk_.data(), chunk_.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
      }
      all.insert(all.end(), chunk_.begin(), chunk_.begin() + got);
      if (static_cast<std::size_t>(got) < chunk_.size()) {
        return true;
      }
    }
    return true;
  }

  // The answer, once it is here in full; a fault report before it is kept.
  std::optional<Frame> next_frame() {
    std::vector<std::uint8_t>& all = child_.received_;
    while (all.size() >= sizeof(FrameHeader)) {
      FrameHeader header;
      std::memcpy(&header, all.data(), sizeof header);
      // A thread that the kernel left behind may have crashed between two questions: its report names the one before.
      const bool late_fault = header.kind == fault_frame && header.question < header_.question;
      if (header.secret != header_.secret || (header.question != header_.question && !late_fault) ||
          header.length > longest_frame) {
        garbled_ = true;
        return std::nullopt;
      }
      if (all.size() < sizeof header + header.length) {
        return std::nullopt;
      }
      Frame frame;
      frame.kind = static_cast<std::uint32_t>(header.kind);
      const auto body = all.begin() + sizeof header;
      frame.bytes.assign(body, body + static_cast<std::ptrdiff_t>(header.length));
      all.erase(all.begin(), body + static_cast<std::ptrdiff_t>(header.length));
      garbled_ = frame_checksum(frame.bytes) != header.checksum;
      if (garbled_) {
        return std::nullopt;
      }
      if (frame.kind != fault_frame) {
        return frame;
      }
      if (frame.bytes.size() == sizeof(FaultReport)) {
        std::memcpy(&fault_.emplace(), frame.bytes.data(), sizeof(FaultReport));
      }
    }
    return std::nullopt;
  }

  ChildEnding ended_as(ChildEnding::How how, int number = 0) {
    child_.drain();
    child_.end(milliseconds(0));
    ChildEnding ending;
    ending.how = how;
    ending.number = number;
    ending.limits = limits_;
    ending.fault = fault_;
    ending.last_lines = child_.last_lines();
    return ending;
  }

  ChildEnding ending_of(int status) {
    if (WIFSIGNALED(status) && is_end_without_channel(WTERMSIG(status))) {
      return ended_as(ChildEnding::How::closed);
    }
    return WIFSIGNALED(status) ? ended_as(ChildEnding::How::signal, WTERMSIG(status))
                               : ended_as(ChildEnding::How::exit, WEXITSTATUS(status));
  }

  // After the end of the channel.
  ChildEnding gone() {
    const auto status = child_.ended(farewell);
    return status ? ending_of(*status) : ended_as(ChildEnding::How::closed);
  }

  Child& child_;
  ChildLimits limits_;
  FrameHeader header_;
  std::span<const std::uint8_t> body_;
  std::size_t sent_ = 0;
  std::array<std::uint8_t, 65536> chunk_;
  bool garbled_ = false;
  std::optional<std::int64_t> memory_before_;
  std::optional<FaultReport> fault_;
};

Child::Child(const std::vector<std::string>& arguments) {
  if (getrandom(&secret_, sizeof secret_, 0) != static_cast<ssize_t>(sizeof secret_)) {
    secret_ = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  }
  const StartedChild started = start_child(arguments);
  process_ = started.process;
  channel_ = started.channel;
  output_ = started.output;
  register_child(process_);
}

Child::~Child() {
  if (channel_ >= 0) {
    close(channel_);  // a child in good health ends by itself, and a plug-in can tidy up
    channel_ = -1;
  }
  end(milliseconds(200));
  if (output_ >= 0) {
    close(output_);
  }
}

std::variant<Frame, ChildEnding> Child::ask(std::uint32_t kind, std::span<const std::uint8_t> bytes,
                                            const ChildLimits& limits) {
  if (!alive()) {
    throw CannotRun("the child process has ended");
  }
  return Conversation(*this, kind, bytes, limits).hold();
}

void Child::drain() {
  std::array<char, 65536> bytes{};
  const ssize_t got = read(output_, bytes.data(), bytes.size());
  if (got > 0) {
    printed_.append(bytes.data(), static_cast<std::size_t>(got));
    if (printed_.size() > printed_kept) {
      printed_.erase(0, printed_.size() - printed_kept);
    }
  } else if (got == 0) {
    close(output_);
    output_ = -1;
  }
}

// The wait status of the process if it ends within `patience`. The process is then forgotten, the rest of its group ended.
std::optional<int> Child::ended(milliseconds patience) {
  const Clock::time_point stop = Clock::now() + patience;
  while (true) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process_) {
      kill(-process_, SIGKILL);  // its number is not given away before it is waited for
      int status = 0;
      waitpid(process_, &status, 0);
      forget_child(process_);
      process_ = -1;
      end_strays();
      return status;
    }
    if (Clock::now() >= stop) {
      return std::nullopt;
    }
    if (output_ >= 0) {
      drain();  // it may be waiting to print
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void Child::end(milliseconds patience) {
  if (!alive() || ended(patience)) {
    return;
  }
  kill(-process_, SIGKILL);
  kill(process_, SIGKILL);  // a kernel may have taken it to another group
  // A driver that tears a broken device down takes its time; one that never ends is left to the system.
  if (!ended(std::chrono::seconds(10))) {
    forget_child(process_);
    process_ = -1;
  }
}

std::vector<std::string> Child::last_lines() {
  constexpr std::size_t most_lines = 5;
  constexpr std::size_t longest = 200;
  std::vector<std::string> lines(1);
  for (const char c : printed_) {
    if (c == '\n') {
      lines.emplace_back();
    } else if (lines.back().size() < longest) {
      lines.back() += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  if (lines.size() > most_lines) {
    lines.erase(lines.begin(), lines.end() - most_lines);
  }
  return lines;
}

std::string describe(const ChildEnding& ending) {
  switch (ending.how) {
    case ChildEnding::How::time:
      return fmt::format("did not return within {}", seconds(ending.limits.time));
    case ChildEnding::How::memory:
      return fmt::format("ran out of memory: it took more than {} MiB", ending.limits.memory >> 20);
    case ChildEnding::How::closed:
      return "closed its channel to kvproof";
    case ChildEnding::How::garbled:
      return "wrote to a file descriptor that is not its own: the channel to kvproof";
    case ChildEnding::How::exit:
      return fmt::format("called exit({})", ending.number);
    case ChildEnding::How::signal:
      break;
  }
  if (ending.number == SIGABRT) {
    return "aborted: SIGABRT";
  }
  if (ending.number == SIGKILL) {
    return "was killed: SIGKILL, as a system does that runs out of memory";
  }
  const std::string what = fmt::format("{} ({})", signal_name(ending.number), strsignal(ending.number));
  constexpr std::array faults{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP};
  if (std::find(faults.begin(), faults.end(), ending.number) == faults.end()) {
    return "was ended: " + what;
  }
  std::string text = "crashed: " + what;
  if (ending.fault && ending.fault->signal == ending.number) {
    if (const std::string where = describe(*ending.fault); !where.empty()) {
      text += ", " + where;
    }
    if (ending.fault->in_kernel == 0 && ending.fault->pool.begin != 0) {
      text += ", after it had returned";
    }
  }
  return text;
}

}  // namespace kvproof
