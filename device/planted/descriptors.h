// A descriptor for each planted kernel.
#pragma once

#include <vector>

#include "kvproof/reference/dialects.h"
#include "planted/catalogue.h"

namespace kvproof::planted {

template <class Steps>
Dialect dialect_of(Layout layout) {
  Dialect dialect = find_dialect(Steps::dialect, layout)->dialect;
  if (Steps::dummy_slot) {
    dialect.invalid = InvalidIndex::non_positive;
  }
  return dialect;
}

inline kvproof_dialect fields_of(const Dialect& dialect) {
  kvproof_dialect fields{};
  fields.size = sizeof fields;
  fields.floor = static_cast<std::uint32_t>(dialect.floor);
  fields.floor_bits = dialect.floor_value;
  fields.ratio = static_cast<std::uint32_t>(dialect.ratio);
  fields.scale = static_cast<std::uint32_t>(dialect.scale);
  fields.quantise = static_cast<std::uint32_t>(dialect.quantise);
  fields.fnuz_limit = static_cast<std::uint32_t>(dialect.fnuz_limit);
  fields.pad = static_cast<std::uint32_t>(dialect.pad);
  fields.invalid_index = static_cast<std::uint32_t>(dialect.invalid);
  fields.division = static_cast<std::uint32_t>(dialect.division);
  fields.index_width = static_cast<std::uint32_t>(dialect.index_width);
  fields.offset_width = static_cast<std::uint32_t>(dialect.offset_width);
  fields.nan_code = static_cast<std::uint32_t>(dialect.nan);
  fields.infinity = static_cast<std::uint32_t>(dialect.infinity);
  fields.reciprocal_ulp = static_cast<std::uint32_t>(dialect.reciprocal_ulp);
  return fields;
}

// `store` is the store function of one machine.
template <class Steps>
kvproof_kernel descriptor(std::uint32_t memory, kvproof_store_fn store) {
  kvproof_kernel kernel{};
  kernel.size = sizeof kernel;
  kernel.layouts = Steps::layouts;
  kernel.name = Steps::name;
  if (Steps::dummy_slot) {
    static const kvproof_dialect fields =
        fields_of(dialect_of<Steps>(Steps::layouts == indexer_only ? Layout::indexer : Layout::flashmla));
    kernel.fields = &fields;
  } else {
    kernel.dialect = Steps::dialect;
  }
  kernel.input_types = Steps::input_types;
  kernel.index_types = KVPROOF_SET(KVPROOF_INT32) | KVPROOF_SET(KVPROOF_INT64);
  kernel.fp8_types = Steps::fp8_types;
  kernel.duplicates = memory == KVPROOF_MEMORY_HOST ? KVPROOF_DUPLICATES_LAST : KVPROOF_DUPLICATES_BYTE;
  if (Steps::duplicates >= 0) {
    kernel.duplicates = static_cast<std::uint32_t>(Steps::duplicates);
  }
  kernel.memory = memory;
  kernel.store = store;
  return kernel;
}

// Adds the kernels of one machine, part by part; each part is defined where its compiler sees the steps.
void add_host_kernels(std::vector<kvproof_kernel>& kernels);
void add_cuda_scales(std::vector<kvproof_kernel>& kernels);
void add_cuda_codes(std::vector<kvproof_kernel>& kernels);
void add_cuda_addresses(std::vector<kvproof_kernel>& kernels);
void add_cuda_batches(std::vector<kvproof_kernel>& kernels);

}  // namespace kvproof::planted
