// The production kernels as subjects, one descriptor a dialect, through the same checks as a plug-in's.
#include <vector>

#include "kernels/store.h"
#include "kvproof/device/subject.h"
#include "kvproof/reference/dialects.h"

namespace kvproof {
namespace {

std::vector<Subject> builtin_subjects(MemoryKind memory, kvproof_store_fn store, Duplicates duplicates) {
  std::vector<kvproof_kernel> kernels;
  for (const NamedDialect& entry : dialects()) {
    const bool flashmla = entry.dialect.layout == Layout::flashmla;
    kvproof_kernel kernel{};
    kernel.size = sizeof(kvproof_kernel);
    kernel.layouts = KVPROOF_SET(flashmla ? KVPROOF_LAYOUT_FLASHMLA : KVPROOF_LAYOUT_INDEXER);
    kernel.name = flashmla ? "flashmla" : "indexer";
    kernel.dialect = entry.name.data();  // the table's names are literals
    kernel.input_types = KVPROOF_SET(KVPROOF_BF16) | KVPROOF_SET(KVPROOF_FP16) | KVPROOF_SET(KVPROOF_FP32);
    kernel.index_types = KVPROOF_SET(KVPROOF_INT32) | KVPROOF_SET(KVPROOF_INT64);
    kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN) | (entry.fnuz ? KVPROOF_SET(KVPROOF_E4M3FNUZ) : 0U);
    kernel.duplicates = static_cast<std::uint32_t>(duplicates);
    kernel.memory = static_cast<std::uint32_t>(memory);
    kernel.store = store;
    kernel.state = const_cast<Dialect*>(&entry.dialect);  // the store function reads it
    kernels.push_back(kernel);
  }
  return subjects_of(kernels.data(), kernels.size(), "built-in", nullptr);
}

}  // namespace

std::vector<Subject> builtin_host_subjects() {
  return builtin_subjects(MemoryKind::host, &kernels::store_on_host, Duplicates::last);
}

std::vector<Subject> builtin_cuda_subjects() {
#if defined(KVPROOF_HAS_CUDA)
  // Two warps that write one slot race, and a unit takes several stores: on an H200 ropes come out torn.
  return builtin_subjects(MemoryKind::cuda, &kernels::store_on_cuda, Duplicates::byte);
#else
  return {};
#endif
}

}  // namespace kvproof
