#include "kvproof/reference/dialects.h"

#include <array>

#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

constexpr F32 f32_1e_4 = 0x38D1B717U;
constexpr F32 f32_1e_8 = 0x322BCC77U;

// What most ports share; each row below says where it differs. Ports whose non-finite behaviour nobody has stated or
// measured keep `unstated`, and no test may hold them to one.
constexpr Dialect flashmla_base() {
  Dialect d;
  d.layout = Layout::flashmla;
  d.nan = NanCode::unstated;
  d.infinity = Infinity::unstated;
  d.invalid = InvalidIndex::precondition;
  return d;
}

constexpr Dialect indexer_base() {
  Dialect d = flashmla_base();
  d.layout = Layout::indexer;
  d.scale = Scale::fp32;
  d.quantise = Quantise::multiply_reciprocal;
  return d;
}

template <class Change>
constexpr Dialect with(Dialect d, Change change) {
  change(d);
  return d;
}

constexpr auto strict_contract = [](Dialect& d) {
  d.invalid = InvalidIndex::outside;
  d.nan = NanCode::nan;
  d.infinity = Infinity::as_largest_bf16;
};
constexpr auto deepseek = [](Dialect& d) {
  d.ratio = Ratio::multiply_reciprocal;
  d.quantise = Quantise::divide;
};
constexpr auto sglang_cuda = [](Dialect& d) {
  d.invalid = InvalidIndex::unguarded;
  d.nan = NanCode::nan;
  d.infinity = Infinity::negative_inverse;
};
constexpr auto sglang_cuda_clip = [](Dialect& d) {
  sglang_cuda(d);
  d.nan = NanCode::plus_max;
};
constexpr auto sglang_triton = [](Dialect& d) {
  d.floor_value = f32_1e_8;
  d.ratio = Ratio::multiply_reciprocal;
  d.invalid = InvalidIndex::unguarded;
  d.division = Division::truncate;
  d.offset_width = Width::int32;
  d.nan = NanCode::plus_max;
  d.infinity = Infinity::zero_inverse_byte_126;
};
constexpr auto sglang_triton_indexer = [](Dialect& d) {
  sglang_triton(d);
  d.reciprocal_ulp = 1;
};
constexpr auto flashmla_packer = [](Dialect& d) {
  d.floor = Floor::ratio;
  d.quantise = Quantise::divide;
};
constexpr auto vllm_cuda = [](Dialect& d) {
  d.pad = Pad::zero;
  d.invalid = InvalidIndex::negative;
  d.nan = NanCode::minus_max;
  d.fnuz_limit = 224;
};
constexpr auto vllm_triton = [](Dialect& d) {
  d.pad = Pad::zero;
  d.invalid = InvalidIndex::minus_one;
};
constexpr auto vllm_indexer = [](Dialect& d) {
  d.quantise = Quantise::divide;
  d.invalid = InvalidIndex::negative;
};
constexpr auto vllm_indexer_ue8m0 = [](Dialect& d) {
  vllm_indexer(d);
  d.scale = Scale::fp32_power_of_two;
};
constexpr auto tokenspeed = [](Dialect& d) {
  d.ratio = Ratio::multiply_reciprocal;
  d.pad = Pad::zero;
  d.invalid = InvalidIndex::negative;
};
constexpr auto lmdeploy_flashmla = [](Dialect& d) {
  d.floor = Floor::ratio;
  d.quantise = Quantise::divide;
  d.invalid = InvalidIndex::negative;
};
constexpr auto lmdeploy_indexer = [](Dialect& d) {
  d.scale = Scale::fp32_power_of_two;
  d.invalid = InvalidIndex::negative;
};
constexpr auto aiter_flashmla = [](Dialect& d) {
  d.quantise = Quantise::divide;
  d.pad = Pad::zero;
  d.invalid = InvalidIndex::negative;
};
constexpr auto aiter_indexer = [](Dialect& d) { d.invalid = InvalidIndex::negative; };
constexpr auto unchanged = [](Dialect&) {};

static_assert(flashmla_base().floor_value == f32_1e_4);

constexpr std::array table{
    NamedDialect{"strict", with(flashmla_base(), strict_contract), true,
                 "kvproof's own contract: amax floor 1e-4, indices outside the pool skipped, non-finite input defined"},
    NamedDialect{
        "strict", with(indexer_base(), strict_contract), true,
        "kvproof's own contract: amax floor 1e-4, x * fl(1/s), indices outside the pool skipped, non-finite defined"},
    NamedDialect{"deepseek", with(flashmla_base(), deepseek), false,
                 "the model's own quantiser: a * fl(1/448), x / s; dense rows, every index valid"},
    NamedDialect{"deepseek", with(indexer_base(), deepseek), false,
                 "the model's own quantiser: a * fl(1/448), x / s; dense rows, every index valid"},
    NamedDialect{"sglang-cuda", with(flashmla_base(), sglang_cuda), false,
                 "shift and mask without a guard, infinity turns the inverse scale into -inf, NaN encodes to 0x7F"},
    NamedDialect{"sglang-cuda", with(indexer_base(), sglang_cuda), false,
                 "shift and mask without a guard, infinity makes the scale +inf, NaN encodes to 0x7F"},
    NamedDialect{"sglang-cuda-clip", with(flashmla_base(), sglang_cuda_clip), false,
                 "the newer sglang-cuda that clips before converting: NaN encodes to 0x7E"},
    NamedDialect{"sglang-cuda-clip", with(indexer_base(), sglang_cuda_clip), false,
                 "the newer sglang-cuda that clips before converting: NaN encodes to 0x7E"},
    NamedDialect{"sglang-triton", with(flashmla_base(), sglang_triton), true,
                 "amax floor 1e-8, truncating division without a guard, int32 offsets, infinity gives byte 126"},
    NamedDialect{"sglang-triton", with(indexer_base(), sglang_triton_indexer), true,
                 "amax floor 1e-8, a * fl(1/448), reciprocal within 1 ulp, truncating division without a guard"},
    NamedDialect{"flashmla", with(flashmla_base(), flashmla_packer), false,
                 "the reader's own packer: the floor 1e-4 is on the ratio, x / s"},
    NamedDialect{"vllm-cuda", with(flashmla_base(), vllm_cuda), true,
                 "pad byte written 0, negative indices skipped, NaN encodes to 0xFE, fnuz scales to 224"},
    NamedDialect{"vllm-triton", with(flashmla_base(), vllm_triton), false, "pad byte written 0, only -1 skipped"},
    NamedDialect{"vllm-indexer", with(indexer_base(), vllm_indexer), false,
                 "x / s, scale as it is, negative indices skipped"},
    NamedDialect{"vllm-indexer-ue8m0", with(indexer_base(), vllm_indexer_ue8m0), false,
                 "x / s, scale rounded up to a power of two, negative indices skipped"},
    NamedDialect{"deepgemm", with(indexer_base(), unchanged), false, "x * fl(1/s), every index valid"},
    NamedDialect{"tokenspeed", with(flashmla_base(), tokenspeed), false,
                 "a * fl(1/448), pad byte written 0, negative indices skipped"},
    NamedDialect{"lmdeploy", with(flashmla_base(), lmdeploy_flashmla), false,
                 "the floor 1e-4 is on the ratio, x / s, negative indices skipped"},
    NamedDialect{"lmdeploy", with(indexer_base(), lmdeploy_indexer), false,
                 "amax floor 1e-4, scale rounded up to a power of two, negative indices skipped"},
    NamedDialect{"aiter", with(flashmla_base(), aiter_flashmla), true,
                 "x / s, pad byte written 0, negative indices skipped, fnuz scales to 240"},
    NamedDialect{"aiter", with(indexer_base(), aiter_indexer), true,
                 "x * fl(1/s), negative indices skipped, fnuz scales to 240"},
};

}  // namespace

std::span<const NamedDialect> dialects() { return table; }

const NamedDialect* find_dialect(std::string_view name, Layout layout) {
  for (const NamedDialect& entry : table) {
    if (entry.name == name && entry.dialect.layout == layout) {
      return &entry;
    }
  }
  return nullptr;
}

std::string dialect_names() {
  std::string all;
  std::string_view last;
  for (const NamedDialect& entry : table) {
    if (entry.name != last) {
      all += all.empty() ? "" : ", ";
      all += entry.name;
      last = entry.name;
    }
  }
  return all;
}

std::optional<std::string> dialect_contradiction(const Dialect& d) {
  const bool flashmla = d.layout == Layout::flashmla;
  if (flashmla != (d.scale == Scale::ue8m0)) {
    return std::string("scale ") + std::string(name_of(d.scale)) + " does not fit layout " + std::string(name_of(d.layout)) +
           (flashmla ? ": expected ue8m0" : ": expected fp32 or fp32_power_of_two");
  }
  if (d.quantise == Quantise::power_of_two && d.scale == Scale::fp32) {
    return "quantise power_of_two needs a power-of-two scale: expected scale ue8m0 or fp32_power_of_two";
  }
  if (d.fnuz_limit != 240 && d.fnuz_limit != 224) {
    return "fnuz limit " + std::to_string(d.fnuz_limit) + ": expected 240 or 224";
  }
  if (d.floor != Floor::none && (d.floor_value == 0 || d.floor_value >= f32_infinity)) {
    return "floor value: expected the bits of a finite positive binary32";
  }
  if (d.pad == Pad::zero && !flashmla) {
    return "pad zero: the indexer layout has no pad byte, expected keep";
  }
  if (d.reciprocal_ulp < 0 || d.reciprocal_ulp > 4) {
    return "reciprocal error of " + std::to_string(d.reciprocal_ulp) + " ulp: expected 0 to 4";
  }
  return std::nullopt;
}

}  // namespace kvproof
