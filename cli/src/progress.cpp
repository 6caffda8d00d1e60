#include "progress.h"

#include <unistd.h>

#include <cstdio>

namespace kvproof::cli {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& line) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now < next_) {
    return;
  }
  next_ = now + std::chrono::milliseconds(100);
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    shown_ = false;
  }
}

}  // namespace kvproof::cli
