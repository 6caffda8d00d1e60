#include "child_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mapping.h"

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

// Whether a line of /proc/PID/smaps begins a mapping, and whether that is shared memory of a kernel's: of no file on a disk,
// and none of kvproof's guards and pools.
std::optional<bool> shared_mapping(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || line.substr(0, space).find('-') == std::string_view::npos) {
    return std::nullopt;  // not BEGIN-END PERMISSIONS OFFSET DEVICE INODE NAME
  }
  const std::size_t slash = line.find('/');
  const std::string_view name = slash == std::string_view::npos ? std::string_view{} : line.substr(slash);
  constexpr std::string_view file_in_memory = "/memfd:";
  const bool ours = name.starts_with(file_in_memory) && name.substr(file_in_memory.size()).starts_with(own_files);
  const bool memory = name.starts_with(file_in_memory) || name.starts_with("/dev/zero") || name.starts_with("/SYSV") ||
                      name.starts_with("/dev/shm/");
  return line.substr(space + 1).substr(0, 4).ends_with('s') && memory && !ours;
}

// A page that is mapped several times is told in parts.
std::int64_t shared_bytes(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/smaps", process));
  std::int64_t bytes = 0;
  bool counts = false;
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view part = "Pss:";
    if (line.starts_with(part)) {
      bytes += counts ? std::stoll(line.substr(part.size())) << 10 : 0;
    } else {
      counts = shared_mapping(line).value_or(counts);
    }
  }
  return bytes;
}

// Cheap, but pages that a fork left shared count whole.
std::int64_t own_bytes(pid_t process, std::int64_t enough) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::int64_t shared = 0;
  file >> size >> resident >> shared;
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  return (resident - shared) * page + (resident * page > enough ? shared_bytes(process) : 0);
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

std::int64_t own_memory_of(pid_t process, std::int64_t enough) {
  return own_bytes(process, enough) + memory_of_those(started_by(process));
}

}  // namespace kvproof
