// Descriptors: a good one is unfolded, and each bad field is named with its value and what was expected.
#include "kvproof/device/subject.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "kvproof/device/error.h"
#include "kvproof/reference/dialects.h"

namespace kvproof {
namespace {

std::int32_t store_nothing(void*, const kvproof_store_call*, const char**) { return KVPROOF_STORED; }
std::int32_t allocate(void*, std::uint64_t, void**) { return 0; }
std::int32_t release(void*, void*) { return 0; }
std::int32_t copy_in(void*, void*, const void*, std::uint64_t) { return 0; }
std::int32_t copy_out(void*, void*, const void*, std::uint64_t) { return 0; }
std::int32_t synchronize(void*) { return 0; }

// A descriptor with everything it may point at, for a test to spoil.
struct Descriptor {
  kvproof_kernel kernel{};
  kvproof_dialect fields{};
  kvproof_memory memory{sizeof(kvproof_memory), nullptr, allocate, release, copy_in, copy_out, synchronize};
  std::array<std::int32_t, 3> page_sizes{2, 64, 256};

  Descriptor() {
    kernel.size = sizeof kernel;
    kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_FLASHMLA);
    kernel.name = "mine";
    kernel.dialect = "strict";
    kernel.input_types = KVPROOF_SET(KVPROOF_BF16) | KVPROOF_SET(KVPROOF_FP32);
    kernel.index_types = KVPROOF_SET(KVPROOF_INT64);
    kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN);
    kernel.store = store_nothing;
    fields.size = sizeof fields;
    fields.floor = 1;
    fields.floor_bits = 0x38D1B717U;
    fields.fnuz_limit = 240;
    fields.invalid_index = 5;
    fields.nan_code = 1;
    fields.infinity = 1;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() = default;

  void use_fields() {
    kernel.dialect = nullptr;
    kernel.fields = &fields;
  }
  void use_memory() {
    kernel.memory = KVPROOF_MEMORY_OWN;
    kernel.own_memory = &memory;
  }
};

std::string error_of(const std::function<void(Descriptor&)>& spoil) {
  Descriptor descriptor;
  spoil(descriptor);
  try {
    subjects_of(&descriptor.kernel, 1, "x.so", nullptr);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "accepted";
}

void expect_error(const std::string& message, const std::function<void(Descriptor&)>& spoil) {
  EXPECT_EQ(error_of(spoil), "x.so: kernel 0 \"mine\": " + message);
}

TEST(Subject, a_descriptor_of_both_layouts_becomes_two) {
  Descriptor descriptor;
  descriptor.kernel.layouts = 3;
  descriptor.kernel.page_sizes = descriptor.page_sizes.data();
  descriptor.kernel.page_size_count = 3;
  descriptor.kernel.duplicates = KVPROOF_DUPLICATES_ROW;
  descriptor.use_memory();
  const std::vector<Subject> subjects = subjects_of(&descriptor.kernel, 1, "x.so", nullptr);
  ASSERT_EQ(subjects.size(), 2U);
  EXPECT_EQ(subjects[0].dialect, find_dialect("strict", Layout::flashmla)->dialect);
  EXPECT_EQ(subjects[1].dialect, find_dialect("strict", Layout::indexer)->dialect);
  EXPECT_EQ(subjects[1].title(), "mine indexer/strict on own memory");
  EXPECT_EQ(subjects[1].input_types, (std::vector{ElementType::bf16, ElementType::fp32}));
  EXPECT_EQ(subjects[1].index_types, std::vector{IndexType::int64});
  EXPECT_EQ(subjects[1].page_sizes, (std::vector<std::int64_t>{2, 64, 256}));
  EXPECT_EQ(subjects[1].duplicates, Duplicates::row);
  EXPECT_EQ(subjects[1].own_memory.synchronize, &synchronize);
}

TEST(Subject, fields_say_a_dialect_of_ones_own) {
  Descriptor descriptor;
  descriptor.use_fields();
  descriptor.fields = {sizeof(kvproof_dialect), 2, 0x3F800000U, 1, 0, 2, 224, 1, 3, 1, 1, 2, 3, 2, 4};
  const std::vector<Subject> subjects = subjects_of(&descriptor.kernel, 1, "x.so", nullptr);
  ASSERT_EQ(subjects.size(), 1U);
  EXPECT_EQ(subjects[0].dialect_name, "custom");
  Dialect expected;
  expected.floor = Floor::ratio;
  expected.floor_value = 0x3F800000U;
  expected.ratio = Ratio::multiply_reciprocal;
  expected.quantise = Quantise::divide;
  expected.fnuz_limit = 224;
  expected.pad = Pad::zero;
  expected.invalid = InvalidIndex::negative;
  expected.division = Division::truncate;
  expected.index_width = Width::int32;
  expected.offset_width = Width::uint32;
  expected.nan = NanCode::minus_max;
  expected.infinity = Infinity::negative_inverse;
  expected.reciprocal_ulp = 4;
  EXPECT_EQ(subjects[0].dialect, expected);
}

TEST(Subject, a_size_that_differs_is_shown_with_both_numbers) {
  EXPECT_EQ(error_of([](Descriptor& d) { d.kernel.size = 8; }),
            "x.so: kernel 0: size is 8: expected " + std::to_string(sizeof(kvproof_kernel)));
  expect_error("fields.size is 64: expected 60", [](Descriptor& d) { d.use_fields(), d.fields.size = 64; });
  expect_error("own_memory.size is 48: expected 56", [](Descriptor& d) { d.use_memory(), d.memory.size = 48; });
}

TEST(Subject, a_bad_name_is_named) {
  const std::string expected = "expected letters, digits, '-', '_' and '.', at least one";
  EXPECT_EQ(error_of([](Descriptor& d) { d.kernel.name = nullptr; }), "x.so: kernel 0: name is null: " + expected);
  EXPECT_EQ(error_of([](Descriptor& d) { d.kernel.name = ""; }), "x.so: kernel 0: name is \"\": " + expected);
  EXPECT_EQ(error_of([](Descriptor& d) { d.kernel.name = "a b\n"; }),
            "x.so: kernel 0 \"a b?\": name is \"a b?\": " + expected);
}

TEST(Subject, a_set_is_neither_empty_nor_beyond_what_is_known) {
  expect_error("layouts is 0x0: expected a non-empty set of flashmla, indexer (at most 0x3)",
               [](Descriptor& d) { d.kernel.layouts = 0; });
  expect_error("layouts is 0x5: expected a non-empty set of flashmla, indexer (at most 0x3)",
               [](Descriptor& d) { d.kernel.layouts = 5; });
  expect_error("input_types is 0x8: expected a non-empty set of bf16, fp16, fp32 (at most 0x7)",
               [](Descriptor& d) { d.kernel.input_types = 8; });
  expect_error("index_types is 0x0: expected a non-empty set of int32, int64 (at most 0x3)",
               [](Descriptor& d) { d.kernel.index_types = 0; });
  expect_error("fp8_types is 0xffffffff: expected a non-empty set of e4m3fn, e4m3fnuz (at most 0x3)",
               [](Descriptor& d) { d.kernel.fp8_types = ~0U; });
}

TEST(Subject, the_dialect_is_said_once_and_exists) {
  expect_error("dialect is null, as fields is: expected one of them", [](Descriptor& d) { d.kernel.dialect = nullptr; });
  expect_error("dialect is \"strict\" and fields is given too: expected one of them",
               [](Descriptor& d) { d.kernel.fields = &d.fields; });
  expect_error("dialect is \"klingon\": expected one of " + dialect_names(),
               [](Descriptor& d) { d.kernel.dialect = "klingon"; });
  expect_error("dialect is \"flashmla\", which has no layout indexer: expected layout flashmla alone, or another dialect",
               [](Descriptor& d) { d.kernel.layouts = 3, d.kernel.dialect = "flashmla"; });
  expect_error("layouts is 0x3: expected one layout, as fields speaks of one",
               [](Descriptor& d) { d.use_fields(), d.kernel.layouts = 3; });
}

TEST(Subject, a_field_beyond_its_values_is_named) {
  const auto field = [](const std::string& message, std::uint32_t kvproof_dialect::*member, std::uint32_t value) {
    expect_error(message, [=](Descriptor& d) { d.use_fields(), d.fields.*member = value; });
  };
  field("fields.floor is 3: expected 0 to 2 (none, amax, ratio)", &kvproof_dialect::floor, 3);
  field("fields.ratio is 2: expected 0 to 1 (divide, multiply_reciprocal)", &kvproof_dialect::ratio, 2);
  field("fields.scale is 3: expected 0 to 2 (ue8m0, fp32, fp32_power_of_two)", &kvproof_dialect::scale, 3);
  field("fields.quantise is 4: expected 0 to 3 (power_of_two, multiply_reciprocal, divide, multiply_limit_over_amax)",
        &kvproof_dialect::quantise, 4);
  field("fields.fnuz_limit is 448: expected 240 or 224", &kvproof_dialect::fnuz_limit, 448);
  field("fields.pad is 2: expected 0 to 1 (keep, zero)", &kvproof_dialect::pad, 2);
  field(
      "fields.invalid_index is 7: expected 0 to 6 (precondition, unguarded, minus_one, negative, non_positive, outside, "
      "trap)",
      &kvproof_dialect::invalid_index, 7);
  field("fields.division is 2: expected 0 to 1 (floor, truncate)", &kvproof_dialect::division, 2);
  field("fields.index_width is 3: expected 0 to 2 (bits64, int32, uint32)", &kvproof_dialect::index_width, 3);
  field("fields.offset_width is 3: expected 0 to 2 (bits64, int32, uint32)", &kvproof_dialect::offset_width, 3);
  field("fields.nan_code is 5: expected 0 to 4 (unstated, nan, plus_max, minus_max, zero)", &kvproof_dialect::nan_code, 5);
  field("fields.infinity is 4: expected 0 to 3 (unstated, as_largest_bf16, negative_inverse, zero_inverse_byte_126)",
        &kvproof_dialect::infinity, 4);
  field("fields.reciprocal_ulp is 5: expected 0 to 4", &kvproof_dialect::reciprocal_ulp, 5);
}

TEST(Subject, fields_that_contradict_one_another_are_bad_input) {
  expect_error("fields contradict one another: scale fp32 does not fit layout flashmla: expected ue8m0",
               [](Descriptor& d) { d.use_fields(), d.fields.scale = 1; });
  expect_error("fields contradict one another: floor value: expected the bits of a finite positive binary32",
               [](Descriptor& d) { d.use_fields(), d.fields.floor_bits = 0; });
}

TEST(Subject, page_sizes_are_positive_and_counted) {
  expect_error("page_sizes[1] is 0: expected 1 or more", [](Descriptor& d) {
    d.page_sizes[1] = 0;
    d.kernel.page_sizes = d.page_sizes.data(), d.kernel.page_size_count = 3;
  });
  expect_error("page_size_count is 3: expected 0, as page_sizes is null",
               [](Descriptor& d) { d.kernel.page_size_count = 3; });
  expect_error("page_size_count is 0: expected 1 or more, as page_sizes is given",
               [](Descriptor& d) { d.kernel.page_sizes = d.page_sizes.data(); });
  expect_error("page_size_count is 65537: expected at most 65536",
               [](Descriptor& d) { d.kernel.page_sizes = d.page_sizes.data(), d.kernel.page_size_count = 65537; });
}

TEST(Subject, own_memory_is_whole_or_absent) {
  expect_error("memory is 3: expected 0 (host), 1 (cuda) or 2 (own)", [](Descriptor& d) { d.kernel.memory = 3; });
  expect_error("own_memory is null: expected the functions of memory 2 (own)",
               [](Descriptor& d) { d.kernel.memory = KVPROOF_MEMORY_OWN; });
  expect_error("own_memory is given with memory 0: expected null unless memory is 2 (own)",
               [](Descriptor& d) { d.kernel.own_memory = &d.memory; });
  const auto missing = [](const std::string& name, auto member) {
    expect_error("own_memory." + name + " is null: expected a function",
                 [=](Descriptor& d) { d.use_memory(), d.memory.*member = nullptr; });
  };
  missing("allocate", &kvproof_memory::allocate);
  missing("release", &kvproof_memory::release);
  missing("copy_in", &kvproof_memory::copy_in);
  missing("copy_out", &kvproof_memory::copy_out);
  missing("synchronize", &kvproof_memory::synchronize);
}

TEST(Subject, the_rest_is_checked_too) {
  expect_error("store is null: expected a function", [](Descriptor& d) { d.kernel.store = nullptr; });
  expect_error("duplicates is 5: expected 0 (unit), 1 (row), 2 (last), 3 (forbidden) or 4 (byte)",
               [](Descriptor& d) { d.kernel.duplicates = 5; });
  expect_error("reserved is 1: expected 0", [](Descriptor& d) { d.kernel.reserved = 1; });
}

TEST(Subject, a_kernel_is_described_once) {
  const Descriptor descriptor;
  std::array<kvproof_kernel, 2> kernels{descriptor.kernel, descriptor.kernel};
  kernels[1].layouts = 3;
  try {
    subjects_of(kernels.data(), 2, "x.so", nullptr);
    FAIL() << "accepted";
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(),
                 "x.so: kernel 1 \"mine\": name is mine flashmla/strict on host a second time: expected each name, "
                 "layout, dialect and memory once");
  }
  kernels[1].layouts = KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
  EXPECT_EQ(subjects_of(kernels.data(), 2, "x.so", nullptr).size(), 2U);
}

TEST(Subject, no_descriptors_are_bad_input) {
  EXPECT_THROW(subjects_of(nullptr, 1, "x.so", nullptr), BadInput);
  const Descriptor descriptor;
  EXPECT_THROW(subjects_of(&descriptor.kernel, 0, "x.so", nullptr), BadInput);
}

}  // namespace
}  // namespace kvproof
