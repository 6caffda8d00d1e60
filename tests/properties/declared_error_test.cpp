// A declared error of the reciprocal excuses what it explains, and nothing else.
#include "kvproof/reference/declared_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "kvproof/device/store_call.h"
#include "kvproof/properties/case_runner.h"
#include "kvproof/properties/check.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/model.h"

namespace kvproof {
namespace {

// How a planted kernel's arithmetic is off.
struct Fault {
  Dialect dialect;
  int ulp = 0;                // of the reciprocal
  bool code_off = false;      // one code up, where the code is 0x20
  bool scale_off = false;     // the scale one binade up
  std::int64_t keeps = -1;    // stores this token last, whatever the order
  std::int64_t half_of = -1;  // then the second half of this token's codes
};

void encode(const StoreShape& s, const std::uint8_t* row, const Fault& fault, RowImage* image) {
  model::encode_row(row, s.input_type, fault.dialect, s.fp8, image);
  const std::uint8_t limit = fp8_limit_code(s.fp8, dialect_limit(fault.dialect, s.fp8));
  const auto value = [&](int i) { return element_to_f32(element_bits(row, s.input_type, i), s.input_type); };
  F32 amax = 0;
  for (int i = 0; i < 128; ++i) {
    amax = std::max(amax, amax_contribution(value(i), fault.dialect.infinity));
  }
  TileScale scale = tile_scale(amax, fault.dialect, s.fp8);
  const F32 neighbour = f32_neighbour(scale.operand, fault.ulp);
  scale.operand = f32_is_nan(neighbour) ? scale.operand : neighbour;
  for (int i = 0; i < 128; ++i) {
    std::uint8_t& code = image->data[i];
    code = quantise(value(i), scale, fault.dialect, s.fp8, limit);
    code = fault.code_off && code == 0x20 ? 0x21 : code;
  }
  if (fault.scale_off && image->scales[3] < 0x7E) {
    image->scales[2] = static_cast<std::uint8_t>(image->scales[2] ^ 0x80);
    image->scales[3] = static_cast<std::uint8_t>(image->scales[3] + ((image->scales[2] & 0x80) != 0 ? 0 : 1));
  }
}

std::int32_t store_with_fault(void* state, const kvproof_store_call* call, const char**) {
  const Fault& fault = *static_cast<const Fault*>(state);
  const StoreShape s = shape_of(*call);
  auto* pool = static_cast<std::uint8_t*>(call->cache);
  const auto store = [&](std::int64_t token, int first) {
    const auto* indices = static_cast<const std::uint8_t*>(call->index);
    const Location at = locate(index_at(indices, s.index_type, token), s.pages, s.page_size, fault.dialect);
    if (at.fate != Fate::stored) {
      return;
    }
    RowImage image;
    encode(s, static_cast<const std::uint8_t*>(call->input) + token * s.row_stride, fault, &image);
    std::uint8_t* page = pool + at.page * s.page_stride;
    std::copy(image.data + first, image.data + 128, page + data_offset(s.layout, at.slot) + first);
    if (first == 0) {
      std::copy(image.scales, image.scales + 4, page + scale_offset(s.layout, at.slot, s.page_size));
    }
  };
  for (std::int64_t token = 0; token < s.tokens; ++token) {
    store(token, 0);
  }
  if (fault.keeps >= 0) {
    store(fault.keeps, 0);
  }
  if (fault.half_of >= 0) {
    store(fault.half_of, 64);
  }
  return KVPROOF_STORED;
}

Subject subject_of(Fault& fault, const char* dialect) {
  fault.dialect = find_dialect(dialect, Layout::indexer)->dialect;
  Subject s;
  s.name = "planted";
  s.origin = "test";
  s.dialect_name = dialect;
  s.dialect = fault.dialect;
  s.input_types = {ElementType::bf16, ElementType::fp16, ElementType::fp32};
  s.index_types = {IndexType::int32, IndexType::int64};
  s.fp8_types = {Fp8::e4m3fn, Fp8::e4m3fnuz};
  s.duplicates = Duplicates::last;
  s.store = store_with_fault;
  s.state = &fault;
  return s;
}

PropertyResult checked(Fault fault, const char* dialect) {
  const Subject subject = subject_of(fault, dialect);
  Arena arena(host_memory());
  const auto runner = run_here(arena, subject);
  CheckOptions options;
  options.seed = 5;
  options.cases = 400;
  options.shrink_budget = std::chrono::duration<double>(0);
  options.save = std::filesystem::temp_directory_path() / "kvproof-declared-error";
  const PropertyResult result = check_property(*runner, subject, values_exact(), options, [](const PropertyResult&) {});
  std::filesystem::remove_all(options.save);
  return result;
}

TEST(declared_error, one_ulp_is_accepted_and_counted_where_it_is_declared) {
  for (const int ulp : {-1, 1}) {
    Fault fault;
    fault.ulp = ulp;
    const PropertyResult result = checked(fault, "sglang-triton");
    EXPECT_TRUE(result.holds()) << ulp << ": " << result.failure->breach.places.front();
    EXPECT_GT(result.explained, 0) << ulp;
    EXPECT_LT(result.explained, result.codes / 10) << ulp;  // the cases aim at ties
    EXPECT_NE(result.explained_example.find("code of page"), std::string::npos) << result.explained_example;
    EXPECT_NE(result.explained_example.find("expected 0x"), std::string::npos) << result.explained_example;
  }
}

TEST(declared_error, an_exact_kernel_needs_no_excuse) {
  const PropertyResult result = checked({}, "sglang-triton");
  EXPECT_TRUE(result.holds());
  EXPECT_EQ(result.explained, 0);
  EXPECT_EQ(result.explained_example, "");
}

TEST(declared_error, one_ulp_is_refused_where_none_is_declared) {
  for (const int ulp : {-1, 1}) {
    Fault fault;
    fault.ulp = ulp;
    const PropertyResult result = checked(fault, "strict");
    EXPECT_FALSE(result.holds()) << ulp;
    EXPECT_EQ(result.explained, 0) << ulp;
  }
}

TEST(declared_error, two_ulp_are_refused_where_one_is_declared) {
  for (const int ulp : {-2, 2}) {
    Fault fault;
    fault.ulp = ulp;
    EXPECT_FALSE(checked(fault, "sglang-triton").holds()) << ulp;
  }
}

TEST(declared_error, a_code_off_by_one_and_a_scale_off_by_a_binade_are_refused) {
  Fault code;
  code.code_off = true;
  EXPECT_FALSE(checked(code, "sglang-triton").holds());
  Fault scale;
  scale.scale_off = true;
  EXPECT_FALSE(checked(scale, "sglang-triton").holds());
}

// Codes of every (amax, x) of one binade of amax, which is all there are but for a power of two: no error that can be
// declared reaches past the neighbouring code.
TEST(declared_error, never_reaches_two_codes) {
  Dialect dialect = find_dialect("sglang-triton", Layout::indexer)->dialect;
  dialect.reciprocal_ulp = 4;
  std::int64_t changed = 0;
  for (F32 amax = 0x3F800000U; amax < 0x40000000U; amax += 0x00010000U) {
    const TileScale scale = tile_scale(amax, dialect, Fp8::e4m3fn);
    for (F32 x = amax - 0x06000000U; x <= amax; x += 0x00010000U) {
      const int exact = quantise(x, scale, dialect, Fp8::e4m3fn, 0x7E);
      ASSERT_TRUE(explained_by_declared_error(x, scale, dialect, Fp8::e4m3fn, 0x7E, static_cast<std::uint8_t>(exact)));
      for (int code = std::max(0, exact - 8); code <= std::min(0x7E, exact + 8); ++code) {
        if (code != exact &&
            explained_by_declared_error(x, scale, dialect, Fp8::e4m3fn, 0x7E, static_cast<std::uint8_t>(code))) {
          ASSERT_EQ(std::abs(code - exact), 1) << std::hex << amax << " " << x;
          ++changed;
        }
      }
    }
  }
  EXPECT_GT(changed, 0);
}

TEST(declared_error, does_not_excuse_an_exact_scaling_or_a_nan) {
  Dialect dialect = find_dialect("sglang-triton", Layout::flashmla)->dialect;
  dialect.reciprocal_ulp = 4;
  const TileScale shift = tile_scale(0x3F800000U, dialect, Fp8::e4m3fn);
  EXPECT_FALSE(explained_by_declared_error(0x3F800000U, shift, dialect, Fp8::e4m3fn, 0x7E, 0x7D));
  dialect = find_dialect("sglang-triton", Layout::indexer)->dialect;
  const TileScale raw = tile_scale(0x3F800000U, dialect, Fp8::e4m3fn);
  EXPECT_FALSE(explained_by_declared_error(0x7FC00000U, raw, dialect, Fp8::e4m3fn, 0x7E, 0x7F));
}

// Three tokens for one slot, codes far apart: each even code on the edge that one ulp moves it over.
Case contended_case(const Dialect& dialect) {
  Case c;
  c.shape.layout = Layout::indexer;
  c.shape.input_type = ElementType::fp32;
  c.shape.tokens = 3;
  c.shape.row_stride = c.shape.row_bytes();
  c.shape.pages = 1;
  c.shape.page_size = 2;
  c.shape.page_stride = 264;
  c.indices = {1, 1, 1};
  c.poison_seed = 7;
  for (std::uint32_t token = 0; token < 3; ++token) {
    const F32 amax = 0x40400000U + (token << 16);
    const TileScale scale = tile_scale(amax, dialect, Fp8::e4m3fn);
    const TileScale low{scale.stored, f32_neighbour(scale.operand, 1), 0, false};
    F32 moved = 0x3F000000U + (token << 22);
    while (quantise(moved, scale, dialect, Fp8::e4m3fn, 0x7E) == quantise(moved, low, dialect, Fp8::e4m3fn, 0x7E)) {
      ++moved;
    }
    for (int i = 0; i < 128; ++i) {
      const F32 x = i == 0 ? amax : (i % 2 == 0 ? moved : moved + (static_cast<F32>(i) << 12));
      for (int byte = 0; byte < 4; ++byte) {
        c.input.push_back(static_cast<std::uint8_t>(x >> (8 * byte)));
      }
    }
  }
  return c;
}

CaseOutcome contended(Fault fault, Duplicates duplicates) {
  Subject subject = subject_of(fault, "sglang-triton");
  subject.duplicates = duplicates;
  Arena arena(host_memory());
  return run_here(arena, subject)->run_whole(contended_case(fault.dialect));
}

TEST(declared_error, of_duplicates_one_contender_must_explain_all) {
  for (const Duplicates duplicates : {Duplicates::unit, Duplicates::row, Duplicates::byte}) {
    for (const std::int64_t token : {0, 1, 2}) {
      Fault fault;
      fault.ulp = 1;
      fault.keeps = token;
      const CaseOutcome whole = contended(fault, duplicates);
      EXPECT_FALSE(whole.breach.has_value()) << static_cast<int>(duplicates) << " token " << token;
      EXPECT_GT(whole.explained, 0) << static_cast<int>(duplicates) << " token " << token;
      fault.half_of = (token + 1) % 3;
      const CaseOutcome torn = contended(fault, duplicates);
      EXPECT_EQ(torn.breach.has_value(), duplicates != Duplicates::byte) << static_cast<int>(duplicates) << " " << token;
    }
  }
}

TEST(declared_error, beyond_the_kept_findings_nothing_is_excused) {
  Fault fault;
  fault.ulp = 1;
  const Subject subject = subject_of(fault, "sglang-triton");
  const Case c = contended_case(fault.dialect);
  const std::vector<std::uint8_t> indices = index_bytes_of(c);
  Arena arena(host_memory());
  const Observation seen = arena.run(subject, c.shape, c.input, indices, Poison{c.poison_seed, false});
  const Expectation expected = expect(c, subject.dialect, Duplicates::last);
  const Judgement all = judge(expected, seen, c.input, indices);
  EXPECT_TRUE(all.holds());
  ASSERT_GT(all.explained, 0);
  std::vector<Finding> findings;
  for (std::int64_t i = 0; i < 128; ++i) {
    const std::uint8_t found = seen.pool.data()[128 + i];
    if (found != expected.rows[2].data[i]) {
      findings.push_back({128 + i, 2, 1, Area::pool, expected.rows[2].data[i], found, 0});
    }
  }
  const auto total = static_cast<std::int64_t>(findings.size());
  ASSERT_EQ(total, all.explained);
  EXPECT_EQ(named(expected, pool_poison(seen.poison), findings, total, c.input).wrong_bytes, 0);
  const Judgement more = named(expected, pool_poison(seen.poison), findings, total + 1, c.input);
  EXPECT_EQ(more.wrong_bytes, total + 1);
  EXPECT_EQ(more.explained, 0);
  EXPECT_EQ(static_cast<std::int64_t>(more.wrong.size()), total);
}

}  // namespace
}  // namespace kvproof
