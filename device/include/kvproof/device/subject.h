// A kernel under test after its descriptor has been checked: one kernel, one layout, one dialect, one kind of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kvproof/kernel.h"
#include "kvproof/reference/call.h"
#include "kvproof/reference/dialect.h"

namespace kvproof {

enum class MemoryKind : std::uint32_t { host = KVPROOF_MEMORY_HOST, cuda = KVPROOF_MEMORY_CUDA, own = KVPROOF_MEMORY_OWN };

enum class Duplicates : std::uint32_t {
  unit = KVPROOF_DUPLICATES_UNIT,
  row = KVPROOF_DUPLICATES_ROW,
  last = KVPROOF_DUPLICATES_LAST,
  forbidden = KVPROOF_DUPLICATES_FORBIDDEN,
  byte = KVPROOF_DUPLICATES_BYTE
};

struct Subject {
  std::string name;          // the descriptor's name
  std::string origin;        // "built-in", or the path of the plug-in
  std::string dialect_name;  // a name of the dialect table, or "custom"
  Dialect dialect;           // its layout is the subject's layout
  std::vector<ElementType> input_types;
  std::vector<IndexType> index_types;
  std::vector<Fp8> fp8_types;
  std::vector<std::int64_t> page_sizes;  // empty: any
  Duplicates duplicates = Duplicates::unit;
  MemoryKind memory = MemoryKind::host;
  kvproof_memory own_memory{};  // with MemoryKind::own
  kvproof_store_fn store = nullptr;
  void* state = nullptr;
  std::shared_ptr<void> library;  // keeps the plug-in loaded; null for built-in kernels

  // "flashmla/strict on host" when named after its layout, else "NAME flashmla/strict on host": how messages name it.
  std::string title() const;
};

// Checks an array of descriptors and unfolds it: a descriptor of both layouts becomes two subjects.
// Throws BadInput that names the descriptor, the field, its value and what was expected.
std::vector<Subject> subjects_of(const kvproof_kernel* kernels, std::size_t count, const std::string& origin,
                                 std::shared_ptr<void> library);

// The production kernels that ship with kvproof, run on the host.
std::vector<Subject> builtin_host_subjects();

// The same kernels on the GPU. Empty in a build without CUDA.
std::vector<Subject> builtin_cuda_subjects();

// Loads a plug-in. Throws BadInput when there is no such file, CannotRun when it does not load or does not speak this
// interface version, BadInput when a descriptor contradicts itself.
std::vector<Subject> load_plugin(const std::string& path);

}  // namespace kvproof
