// The hidden subcommand by which the program becomes the child process that kernels run in.
#pragma once

namespace kvproof::cli {

inline constexpr const char* worker_command = "worker";

}  // namespace kvproof::cli
