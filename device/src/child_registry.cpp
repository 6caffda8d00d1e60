#include "child_registry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <vector>

#include "kvproof/device/child.h"

namespace kvproof {
namespace {

std::array<std::atomic<pid_t>, 1024> living{};
bool adopting = false;
std::vector<pid_t> older;  // children from before this program's time

std::array<char, 64> children_file{};  // lists the children of this process

// Calls `take` with each child of this process. System calls only, as a signal handler asks too.
template <class Take>
void each_child(Take take) {
  const int file = open(children_file.data(), O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> bytes{};
  pid_t process = 0;
  for (ssize_t got = 0; file >= 0 && (got = read(file, bytes.data(), bytes.size())) > 0;) {
    for (ssize_t i = 0; i < got; ++i) {
      const char c = bytes[static_cast<std::size_t>(i)];
      if (c >= '0' && c <= '9') {
        process = process * 10 + (c - '0');
      } else if (process != 0) {
        take(process);
        process = 0;
      }
    }
  }
  close(file);
}

bool is_child(pid_t process) {
  for (const auto& one : living) {
    if (one.load() == process) {
      return true;
    }
  }
  return false;
}

bool is_stray(pid_t process) { return !is_child(process) && std::find(older.begin(), older.end(), process) == older.end(); }

void end_group(pid_t process) {
  kill(-process, SIGKILL);
  kill(process, SIGKILL);  // wherever it has gone
}

// Only what a handler may call. What the children leave behind comes to this process when they are gone, and would outlive
// it.
void on_end(int signal) {
  for (const auto& one : living) {
    if (const pid_t process = one.load(); process > 0) {
      end_group(process);
    }
  }
  if (adopting) {
    constexpr timespec moment{0, 5'000'000};
    for (auto& one : living) {
      for (int i = 0; i < 200 && one.load() > 0 && waitpid(one.load(), nullptr, WNOHANG) == 0; ++i) {
        nanosleep(&moment, nullptr);
      }
      one.store(0);
    }
    end_strays();
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

bool register_child(pid_t process) {
  for (auto& one : living) {
    pid_t empty = 0;
    if (one.compare_exchange_strong(empty, process)) {
      return true;
    }
  }
  return false;
}

void forget_child(pid_t process) {
  for (auto& one : living) {
    pid_t mine = process;
    one.compare_exchange_strong(mine, 0);
  }
}

void end_strays() {
  if (!adopting) {
    return;
  }
  // A stray's own children come to this process when it is gone, hence the rounds.
  for (int round = 0; round < 16; ++round) {
    bool found = false;
    each_child([&](pid_t process) {
      if (is_stray(process)) {
        found = true;
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
      }
    });
    if (!found) {
      return;
    }
  }
}

void adopt_strays() {
  *fmt::format_to_n(children_file.data(), children_file.size() - 1, "/proc/self/task/{}/children", getpid()).out = '\0';
  each_child([](pid_t process) { older.push_back(process); });
  adopting = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

void end_children_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) {
      struct sigaction action {};
      action.sa_handler = &on_end;
      sigemptyset(&action.sa_mask);
      sigaction(signal, &action, nullptr);
    }
  }
}

}  // namespace kvproof
