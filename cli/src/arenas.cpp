#include "arenas.h"

#include "kernel_choice.h"

namespace kvproof::cli {

Arena& Arenas::of(const Subject& subject) {
  // A plug-in's own memory belongs to the descriptor that brings it.
  const std::string key = subject.memory == MemoryKind::own ? subject.origin + subject.title() : name_of(subject.memory);
  std::unique_ptr<Arena>& arena = arenas_[key];
  if (!arena) {
    arena = std::make_unique<Arena>(memory_of(subject));
    if (devices_.find(arena->device()) == std::string::npos) {
      devices_ += devices_.empty() ? "" : ", ";
      devices_ += arena->device();
    }
  }
  return *arena;
}

}  // namespace kvproof::cli
