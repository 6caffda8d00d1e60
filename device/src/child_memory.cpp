#include "child_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kvproof {
namespace {

namespace fs = std::filesystem;

std::vector<pid_t> started_by(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;  // a process, or a thread of it, may end meanwhile
  for (fs::directory_iterator thread(fmt::format("/proc/{}/task", process), gone), end; !gone && thread != end;
       thread.increment(gone)) {
    std::ifstream file(thread->path() / "children");
    for (pid_t child = 0; file >> child;) {
      children.push_back(child);
    }
  }
  return children;
}

// Cheap, but pages that a fork left shared count whole.
std::int64_t unshared_bytes(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::int64_t shared = 0;
  file >> size >> resident >> shared;
  return (resident - shared) * sysconf(_SC_PAGESIZE);
}

std::int64_t bytes_in_part(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Pss_Anon:")) {
      return std::stoll(line.substr(line.find(':') + 1)) << 10;
    }
  }
  return 0;
}

std::int64_t memory_of_those(const std::vector<pid_t>& processes) {
  std::int64_t bytes = 0;
  for (const pid_t process : processes) {
    bytes += bytes_in_part(process) + memory_of_those(started_by(process));
  }
  return bytes;
}

}  // namespace

std::int64_t own_memory_of(pid_t process) { return unshared_bytes(process) + memory_of_those(started_by(process)); }

}  // namespace kvproof
