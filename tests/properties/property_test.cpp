// Every property holds for the model and fails for the kernel planted against it; the failure is shrunk, saved and
// replayable.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "kvproof/properties/case_file.h"
#include "kvproof/properties/check.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/names.h"
#include "planted.h"

namespace kvproof {
namespace {

class PropertyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.seed = 7;
    options_.cases = 400;
    options_.save =
        std::filesystem::temp_directory_path() /
        ("kvproof-property-test-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(options_.save);
  }
  void TearDown() override { std::filesystem::remove_all(options_.save); }

  PropertyResult check(const Subject& subject, const Property& property) {
    return check_property(*run_here(arena_, subject), subject, property, options_, [](const PropertyResult&) {});
  }

  // The property fails for the planted kernel, and its saved case fails again.
  void caught(Layout layout, kvproof_store_fn store, const Property& property, const std::string& place,
              std::int64_t most_tokens) {
    const Subject subject = planted::subject(layout, store);
    const PropertyResult result = check(subject, property);
    ASSERT_FALSE(result.holds());
    EXPECT_NE(result.failure->breach.places.front().find(place), std::string::npos) << result.failure->breach.places.front();
    const CaseFile file = read_cases(result.failure->file);
    ASSERT_EQ(file.cases.size(), 1U);
    const FiledCase& filed = file.cases.front();
    confirm_with_model(filed);
    EXPECT_LE(filed.run.shape.tokens, most_tokens);
    const Trial again = try_case(arena_, subject, filed.run);
    EXPECT_TRUE(property.broken(again).has_value());
    const Subject right = planted::subject(layout, planted::right);
    EXPECT_FALSE(property.broken(try_case(arena_, right, filed.run)).has_value());
  }

  Arena arena_{host_memory()};
  CheckOptions options_;
};

TEST_F(PropertyTest, AllHoldForTheModel) {
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    const Subject subject = planted::subject(layout, planted::right);
    for (const Property& property : properties()) {
      if (!property.applies_to(subject)) {
        continue;
      }
      options_.cases = property.focus.large_shapes ? 50 : 400;
      const PropertyResult result = check(subject, property);
      EXPECT_TRUE(result.holds()) << property.name << ": " << (result.holds() ? "" : result.failure->breach.summary);
      EXPECT_EQ(result.cases, options_.cases);
      EXPECT_EQ(result.refused, 0);
      EXPECT_GT(result.exercised, result.cases / 5) << property.name;
      EXPECT_LE(result.exercised, result.cases) << property.name;
      EXPECT_FALSE(result.compared_nothing()) << property.name;
      // Runs that are compared with each other are many and small; a batch without tokens has no codes.
      const bool judged = property.over_runs == nullptr;
      // Of a pool of gigabytes only what was touched is compared.
      const std::int64_t least = property.focus.far_pools ? 400 * 40'000 : 400 * 100'000;
      EXPECT_GT(result.bytes, judged ? least : 100'000) << property.name;
      if (property.name != no_tokens_touch_nothing().name) {
        EXPECT_GT(result.codes, judged ? 100'000 : 10'000) << property.name;
      }
    }
  }
}

Dialect any_dialect(Draw& draw) {
  Dialect d;
  do {
    d.layout = draw.of({Layout::flashmla, Layout::indexer, Layout::indexer});
    d.floor = draw.of({Floor::none, Floor::amax, Floor::ratio});
    d.floor_value = draw.of<F32>({0x38D1B717U, 0x322BCC77U, 1, 0x3F800000U, 0x00800000U, 0x5F000000U});
    d.ratio = draw.of({Ratio::divide, Ratio::multiply_reciprocal});
    d.scale = draw.of({Scale::ue8m0, Scale::fp32, Scale::fp32_power_of_two});
    d.quantise = draw.of(
        {Quantise::power_of_two, Quantise::multiply_reciprocal, Quantise::divide, Quantise::multiply_limit_over_amax});
    d.fnuz_limit = draw.of({240, 224});
    d.pad = draw.of({Pad::keep, Pad::zero});
    d.invalid = static_cast<InvalidIndex>(draw.below(7));
    d.division = draw.of({Division::floor, Division::truncate});
    d.nan = static_cast<NanCode>(draw.below(5));
    d.infinity = static_cast<Infinity>(draw.below(4));
    d.reciprocal_ulp = static_cast<int>(draw.of<std::int64_t>({0, 0, 0, draw.between(1, 4)}));
  } while (dialect_contradiction(d));
  return d;
}

std::string fields_of(const Dialect& d) {
  return fmt::format("{} floor {} 0x{:08x} ratio {} scale {} quantise {} fnuz {} nan {} infinity {} ulp {}",
                     name_of(d.layout), name_of(d.floor), d.floor_value, name_of(d.ratio), name_of(d.scale),
                     name_of(d.quantise), d.fnuz_limit, name_of(d.nan), name_of(d.infinity), d.reciprocal_ulp);
}

TEST_F(PropertyTest, AllHoldForTheModelInAnyDialectThatCanBeDescribed) {
  Draw draw(11);
  options_.cases = 10;
  options_.save.clear();
  std::map<std::string_view, std::int64_t> exercised;
  for (int i = 0; i < 250; ++i) {
    const Dialect dialect = any_dialect(draw);
    const Subject subject = planted::subject(dialect);
    options_.seed = static_cast<std::uint64_t>(i);
    for (const Property& property : properties()) {
      if (property.focus.costly() || !property.applies_to(subject)) {
        continue;
      }
      const PropertyResult result = check(subject, property);
      EXPECT_TRUE(result.holds()) << property.name << ": " << (result.holds() ? "" : result.failure->breach.summary) << "; "
                                  << (result.holds() ? "" : result.failure->breach.places.front()) << "; "
                                  << fields_of(dialect);
      exercised[property.name] += result.exercised;
    }
  }
  for (const auto& [name, cases] : exercised) {
    EXPECT_GE(cases, 100) << name;
  }
}

TEST_F(PropertyTest, ZerosPutNoNanCodeToTheTestOnlyWhereTheirScaleCanBeDividedBy) {
  Dialect dialect = find_dialect("strict", Layout::indexer)->dialect;
  Draw draw(3);
  Case c = draw_case(draw, planted::subject(dialect), no_nan_code().focus, 50);
  std::fill(c.input.begin(), c.input.end(), std::uint8_t{0});
  EXPECT_TRUE(no_nan_code().exercises(try_case(arena_, planted::subject(dialect), c)));
  dialect.floor = Floor::none;
  EXPECT_FALSE(no_nan_code().exercises(try_case(arena_, planted::subject(dialect), c)));
}

TEST_F(PropertyTest, ValuesExactCatchesOneCode) {
  caught(Layout::flashmla, planted::code_off_by_one, values_exact(), "wrong code of page", 1);
}

TEST_F(PropertyTest, ValuesExactCatchesOneCodeOfTheIndexer) {
  caught(Layout::indexer, planted::code_off_by_one, values_exact(), "wrong code of page", 1);
}

TEST_F(PropertyTest, RopeCopiedCatchesAQuietedNan) {
  caught(Layout::flashmla, planted::rope_bit_flipped, rope_copied(), "wrong rope of page", 1);
}

TEST_F(PropertyTest, ScaleInBoundsCatchesByte255) {
  caught(Layout::flashmla, planted::scale_255, scale_in_bounds(), "0xff, expected 0x69 to 0xf7", 1);
}

TEST_F(PropertyTest, NoNanCodeCatchesANanForZero) {
  caught(Layout::flashmla, planted::nan_code, no_nan_code(), "is NaN, from finite input", 1);
}

TEST_F(PropertyTest, UntouchedBytesStayCatchesAWrittenPad) {
  caught(Layout::flashmla, planted::pad_written, untouched_bytes_stay(), "stray pad of page", 1);
}

TEST_F(PropertyTest, UntouchedBytesStayCatchesMinusOne) {
  caught(Layout::flashmla, planted::minus_one_stored, untouched_bytes_stay(),
         "stray guard before the pool, 1 bytes before it", 1);
  caught(Layout::indexer, planted::minus_one_stored, untouched_bytes_stay(),
         "stray guard before the pool, 1 bytes before it", 1);
}

TEST_F(PropertyTest, InputAndIndicesStayCatchesWritesToEach) {
  caught(Layout::flashmla, planted::input_written, input_and_indices_stay(), "stray input, byte", 2);
  caught(Layout::indexer, planted::indices_written, input_and_indices_stay(), "stray indices, byte 0", 1);
  // Nothing is mapped past the end: a fault, which a child process turns into a verdict.
  EXPECT_DEATH(check(planted::subject(Layout::indexer, planted::past_input_written), input_and_indices_stay()), "");
}

TEST_F(PropertyTest, OneDefectBreaksNoOtherPromise) {
  const std::array whole{far_rows_land().name, large_shapes_land().name, sequences_follow_the_model().name};
  const Subject subject = planted::subject(Layout::flashmla, planted::pad_written);
  for (const Property& property : properties()) {
    if (!property.applies_to(subject)) {
      continue;
    }
    // Some judge every byte, whatever it belongs to.
    const bool sees_pads =
        std::find(whole.begin(), whole.end(), property.name) != whole.end() || property.name == untouched_bytes_stay().name;
    EXPECT_EQ(check(subject, property).holds(), !sees_pads) << property.name;
  }
}

TEST_F(PropertyTest, AKernelThatRefusesEverythingHasShownNothing) {
  const PropertyResult result = check(planted::subject(Layout::flashmla, planted::refuses_all), values_exact());
  EXPECT_TRUE(result.holds());
  EXPECT_TRUE(result.compared_nothing());
  EXPECT_EQ(result.refusal, "not today");
  EXPECT_EQ(result.codes, 0);
}

TEST_F(PropertyTest, AKernelThatTakesOnlyEmptyBatchesHasShownNothing) {
  const PropertyResult result = check(planted::subject(Layout::flashmla, planted::refuses_tokens), values_exact());
  EXPECT_LT(result.refused, result.cases);
  EXPECT_TRUE(result.compared_nothing());
}

TEST_F(PropertyTest, APromiseAboutSeveralTokensNeedsACallOfSeveral) {
  const Subject subject = planted::subject(Layout::indexer, planted::refuses_several_tokens);
  for (const Property* property : {&permuting_tokens_changes_nothing(), &split_batch_equals_whole(), &tiles_independent(),
                                   &strided_input_right_or_refused(), &duplicates_end_as_one_contender()}) {
    const PropertyResult result = check(subject, *property);
    EXPECT_GT(result.codes, 0) << property->name;  // single tokens were stored and compared, to no purpose
    EXPECT_LT(result.refused, result.cases) << property->name;
    EXPECT_TRUE(result.compared_nothing()) << property->name;
  }
  for (const Property* property : {&values_exact(), &moving_by_pages_moves_the_bytes(), &index_types_agree(),
                                   &invalid_indices_follow_the_dialect(), &sequences_follow_the_model()}) {
    const PropertyResult result = check(subject, *property);
    EXPECT_GT(result.exercised, 0) << property->name;
    EXPECT_LE(result.exercised, result.cases - result.refused) << property->name;
  }
}

TEST_F(PropertyTest, ALargeShapeIsAskedOnlyOfWhatCanHaveOne) {
  Subject subject = planted::subject(Layout::indexer, planted::right);
  EXPECT_TRUE(large_shapes_land().applies_to(subject));
  subject.page_sizes = {64};
  EXPECT_TRUE(large_shapes_land().applies_to(subject));  // by its batches
  subject.dialect.reciprocal_ulp = 1;
  EXPECT_TRUE(large_shapes_land().applies_to(subject));  // by batches of as many tokens as can be explained
  subject = planted::subject(Layout::flashmla, planted::right);
  subject.page_sizes = {64};
  subject.dialect.reciprocal_ulp = 1;
  EXPECT_FALSE(large_shapes_land().applies_to(subject));  // 128 tokens, as usual
  subject.page_sizes = {64, 512};
  EXPECT_TRUE(large_shapes_land().applies_to(subject));
}

TEST_F(PropertyTest, LargeShapesLandCatchesATokenThatOnlyBatchesOfHundredsLose) {
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    const Subject subject = planted::subject(layout, planted::middle_batch_short);
    for (const Property& property : properties()) {
      if (property.applies_to(subject) && property.name != large_shapes_land().name) {
        EXPECT_TRUE(check(subject, property).holds()) << property.name;
      }
    }
    options_.cases = 100;
    caught(layout, planted::middle_batch_short, large_shapes_land(), "missing code", 900);
  }
}

TEST_F(PropertyTest, ARefusalThatWroteIsCaught) {
  const PropertyResult result =
      check(planted::subject(Layout::flashmla, planted::refuses_and_writes), untouched_bytes_stay());
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failure->breach.places.size(), 1U);
}

TEST_F(PropertyTest, AFailingKernelIsAFailure) {
  const PropertyResult result = check(planted::subject(Layout::indexer, planted::fails_always), values_exact());
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failure->breach.summary, "the kernel failed: out of luck");
  EXPECT_TRUE(result.failure->breach.ended);
  EXPECT_FALSE(result.hung());
}

TEST_F(PropertyTest, TheSameSeedGivesTheSameCases) {
  const Subject subject = planted::subject(Layout::flashmla, planted::scale_255);
  const PropertyResult one = check(subject, scale_in_bounds());
  const PropertyResult two = check(subject, scale_in_bounds());
  EXPECT_EQ(one.cases, two.cases);
  EXPECT_EQ(one.failure->breach.places, two.failure->breach.places);
}

}  // namespace
}  // namespace kvproof
