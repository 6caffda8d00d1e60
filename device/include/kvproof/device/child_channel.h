// The channel between a parent and its child: a socket that carries frames. Each frame names the session by a secret of the
// parent's, the question it belongs to, its length and its checksum, so that a kernel which writes to descriptors that are
// not its own is noticed, not believed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kvproof {

struct FrameHeader {
  std::uint64_t secret = 0;
  std::uint64_t question = 0;  // counts up from 1
  std::uint64_t kind = 0;
  std::uint64_t length = 0;  // bytes after the header
  std::uint64_t checksum = 0;
};

struct Frame {
  std::uint32_t kind = 0;
  std::vector<std::uint8_t> bytes;
};

inline constexpr std::uint64_t longest_frame = std::uint64_t{1} << 30;

// Kinds of 0x1000 and more are the channel's own.
inline constexpr std::uint32_t fault_frame = 0x1000;

// Ends this process as one that can no longer speak to its parent; the parent knows the sign.
[[noreturn]] void end_without_channel();
bool is_end_without_channel(int signal);

std::uint64_t frame_checksum(std::span<const std::uint8_t> bytes);

// The child's end. It waits as long as the parent lives.
class ChildEnd {
 public:
  // Takes over the descriptor; programs that the kernel starts do not inherit it.
  explicit ChildEnd(int descriptor);

  // The next question, or nothing once the parent has closed the channel. A channel that the kernel has closed, or read
  // from, ends the process.
  std::optional<Frame> question();
  void answer(std::uint32_t kind, std::span<const std::uint8_t> bytes);

  int descriptor() const { return descriptor_; }
  const FrameHeader& last() const { return last_; }

 private:
  int descriptor_;
  FrameHeader last_;  // of the question at hand
};

}  // namespace kvproof
