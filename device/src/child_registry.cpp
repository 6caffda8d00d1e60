#include "child_registry.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <vector>

#include "kvproof/device/child.h"

namespace kvproof {
namespace {

std::array<std::atomic<pid_t>, 1024> living{};
bool adopting = false;
std::vector<pid_t> older;  // children from before this program's time

std::vector<pid_t> children() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", getpid()));
  std::vector<pid_t> all;
  for (pid_t process = 0; file >> process;) {
    all.push_back(process);
  }
  return all;
}

bool is_child(pid_t process) {
  for (const auto& one : living) {
    if (one.load() == process) {
      return true;
    }
  }
  return false;
}

void on_end(int signal) {
  for (const auto& one : living) {
    if (const pid_t process = one.load(); process > 0) {
      kill(-process, SIGKILL);
    }
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
    for (const pid_t process : children()) {
      if (!is_child(process) && std::find(older.begin(), older.end(), process) == older.end()) {
        found = true;
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
      }
    }
    if (!found) {
      return;
    }
  }
}

void adopt_strays() {
  older = children();
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
