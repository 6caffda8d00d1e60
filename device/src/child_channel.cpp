#include "kvproof/device/child_channel.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kvproof {
namespace {

// False at the end of the channel.
bool read_all(int descriptor, void* to, std::size_t count) {
  auto* at = static_cast<std::uint8_t*>(to);
  while (count > 0) {
    const ssize_t got = recv(descriptor, at, count, 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      end_without_channel();
    }
    if (got == 0) {
      return false;
    }
    at += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

void write_all(int descriptor, const void* from, std::size_t count) {
  const auto* at = static_cast<const std::uint8_t*>(from);
  while (count > 0) {
    const ssize_t put = send(descriptor, at, count, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      end_without_channel();
    }
    at += put;
    count -= static_cast<std::size_t>(put);
  }
}

}  // namespace

// A signal that nothing else is likely to end a process with.
void end_without_channel() {
  signal(SIGRTMAX, SIG_DFL);
  raise(SIGRTMAX);
  _exit(127);
}

bool is_end_without_channel(int signal) { return signal == SIGRTMAX; }

std::uint64_t frame_checksum(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t prime = 0x100000001B3ULL;
  std::uint64_t sum = 0xCBF29CE484222325ULL ^ bytes.size();
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    sum = (sum ^ word) * prime;
    sum ^= sum >> 29;
  }
  for (; i < bytes.size(); ++i) {
    sum = (sum ^ bytes[i]) * prime;
  }
  return sum;
}

ChildEnd::ChildEnd(int descriptor) : descriptor_(descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

std::optional<Frame> ChildEnd::question() {
  FrameHeader header;
  if (!read_all(descriptor_, &header, sizeof header)) {
    return std::nullopt;
  }
  if (header.length > longest_frame) {
    end_without_channel();
  }
  Frame frame;
  frame.kind = static_cast<std::uint32_t>(header.kind);
  frame.bytes.resize(header.length);
  if (!read_all(descriptor_, frame.bytes.data(), frame.bytes.size())) {
    return std::nullopt;
  }
  if (frame_checksum(frame.bytes) != header.checksum) {
    end_without_channel();
  }
  last_ = header;
  return frame;
}

void ChildEnd::answer(std::uint32_t kind, std::span<const std::uint8_t> bytes) {
  FrameHeader header = last_;
  header.kind = kind;
  header.length = bytes.size();
  header.checksum = frame_checksum(bytes);
  write_all(descriptor_, &header, sizeof header);
  write_all(descriptor_, bytes.data(), bytes.size());
}

}  // namespace kvproof
