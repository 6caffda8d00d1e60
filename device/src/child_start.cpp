#include "child_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kvproof/device/error.h"

namespace kvproof {
namespace {

// Out of the way of a kernel that closes or reuses small numbers.
constexpr int channel_number = 100;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

[[noreturn]] void cannot(const char* what) {
  throw CannotRun(fmt::format("no child process: {}: {}", what, std::strerror(errno)));
}

// Between fork and exec: system calls only.
[[noreturn]] void become(char* const* arguments, pid_t parent, int input, int output, int channel) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);  // the parent died before it could be asked for
  }
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) {
      ::signal(signal, SIG_DFL);
    }
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // The parent's ends lie above the three standard descriptors, but for one that was closed when it started.
  const int kept = fcntl(channel, F_DUPFD, channel_number + 1);
  const int printed = fcntl(output, F_DUPFD, channel_number + 1);
  const int nothing = fcntl(input, F_DUPFD, channel_number + 1);
  if (dup2(nothing, STDIN_FILENO) < 0 || dup2(printed, STDOUT_FILENO) < 0 || dup2(printed, STDERR_FILENO) < 0 ||
      dup2(kept, channel_number) < 0) {
    _exit(127);
  }
  close_range(STDERR_FILENO + 1, channel_number - 1, 0);
  close_range(channel_number + 1, ~0U, 0);
  execv("/proc/self/exe", arguments);
  _exit(127);
}

}  // namespace

StartedChild start_child(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    cannot("socketpair");
  }
  Descriptor mine(ends[0]);
  const Descriptor its(ends[1]);
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    cannot("pipe");
  }
  Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  const Descriptor empty(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (empty.get() < 0) {
    cannot("/dev/null");
  }
  fcntl(mine.get(), F_SETFL, O_NONBLOCK);
  fcntl(read_end.get(), F_SETFL, O_NONBLOCK);

  std::vector<std::string> words{"kvproof"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back(std::to_string(channel_number));
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);

  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) {
    cannot("fork");
  }
  if (process == 0) {
    become(pointers.data(), parent, empty.get(), write_end.get(), its.get());
  }
  setpgid(process, process);  // by both, so that neither can be too late
  return {process, mine.release(), read_end.release()};
}

}  // namespace kvproof
