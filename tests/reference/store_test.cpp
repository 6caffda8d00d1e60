// Whole batches: every byte of the pool against the oracle's units.
#include "kvproof/oracle/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "kvproof/reference/dialects.h"
#include "kvproof/reference/model.h"
#include "kvproof/reference/names.h"
#include "random_case.h"

namespace kvproof {
namespace {

using Pool = std::vector<std::uint8_t>;

constexpr int cases_each = KVPROOF_SANITIZED ? 3 : 25;

Pool random_pool(Random& random, const StoreShape& shape) {
  Pool pool(static_cast<std::size_t>(shape.pool_bytes()));
  for (std::uint8_t& byte : pool) {
    byte = static_cast<std::uint8_t>(random());
  }
  return pool;
}

// The pool when of each unit's contenders the first or the last stays.
Pool expected_pool(Pool pool, const std::vector<OracleUnit>& units, bool last) {
  for (const OracleUnit& unit : units) {
    const auto& bytes = last ? unit.contenders.back() : unit.contenders.front();
    std::copy(bytes.begin(), bytes.end(), pool.begin() + unit.offset);
  }
  return pool;
}

std::string place_of_difference(const Pool& found, const Pool& expected, const StoreShape& shape) {
  const auto [at, other] = std::mismatch(found.begin(), found.end(), expected.begin());
  if (at == found.end()) {
    return "none";
  }
  const PagePlace place = place_in_page(shape.layout, shape.page_size, (at - found.begin()) % shape.page_stride);
  return std::string(name_of(place.region)) + " tile " + std::to_string(place.tile) + " element " +
         std::to_string(place.element) + ": model " + std::to_string(*at) + ", oracle " + std::to_string(*other);
}

struct Totals {
  std::int64_t cases = 0;
  std::int64_t bytes = 0;
  std::int64_t contended = 0;
  std::int64_t skipped = 0;
};

std::string text_of(const Dialect& d) {
  std::string text;
  for (const std::string_view field :
       {name_of(d.layout), name_of(d.floor), name_of(d.ratio), name_of(d.scale), name_of(d.quantise), name_of(d.invalid),
        name_of(d.index_width), name_of(d.nan), name_of(d.infinity)}) {
    text += std::string(field) + " ";
  }
  return text + "floor " + std::to_string(d.floor_value) + " fnuz limit " + std::to_string(d.fnuz_limit);
}

void compare(Random& random, const Case& run, const Dialect& dialect, Totals& totals) {
  const std::vector<OracleUnit> units = oracle_store(run, dialect);
  ASSERT_TRUE(std::is_sorted(units.begin(), units.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; }));
  const Pool before = random_pool(random, run.shape);
  Pool pool = before;
  model::store(run.shape, dialect, run.input.data(), bytes_of_indices(run).data(), pool.data());
  const Pool expected = expected_pool(before, units, true);
  ASSERT_EQ(pool == expected, true) << text_of(dialect) << "\n" << place_of_difference(pool, expected, run.shape);

  // Stored backwards, the first contender stays: so every contender of two is compared.
  Case backwards = run;
  std::reverse(backwards.indices.begin(), backwards.indices.end());
  for (std::int64_t token = 0; token < run.shape.tokens; ++token) {
    const auto from = run.input.begin() + (run.shape.tokens - 1 - token) * run.shape.row_stride;
    std::copy(from, from + run.shape.row_bytes(), backwards.input.begin() + token * run.shape.row_stride);
  }
  pool = before;
  model::store(run.shape, dialect, backwards.input.data(), bytes_of_indices(backwards).data(), pool.data());
  const Pool expected_first = expected_pool(before, units, false);
  ASSERT_EQ(pool == expected_first, true) << text_of(dialect) << "\n"
                                          << place_of_difference(pool, expected_first, run.shape);

  ++totals.cases;
  totals.bytes += 2 * static_cast<std::int64_t>(pool.size());
  std::size_t stored = 0;
  for (const OracleUnit& unit : units) {
    totals.contended += unit.contenders.size() > 1 ? 1 : 0;
    stored += unit.contenders.size();
  }
  const std::size_t units_of_a_row = run.shape.layout == Layout::indexer ? 2 : (dialect.pad == Pad::zero ? 16 : 15);
  ASSERT_EQ(stored % units_of_a_row, 0U);
  totals.skipped += run.shape.tokens - static_cast<std::int64_t>(stored / units_of_a_row);
}

TEST(Store, RandomBatchesAreWhatTheOracleSaysInEveryDialect) {
  Random random(11);
  Totals totals;
  for (const NamedDialect& entry : dialects()) {
    for (const ElementType input_type : {ElementType::bf16, ElementType::fp16, ElementType::fp32}) {
      for (const IndexType index_type : {IndexType::int32, IndexType::int64}) {
        for (const Fp8 fp8 : {Fp8::e4m3fn, Fp8::e4m3fnuz}) {
          for (int i = 0; i < cases_each; ++i) {
            SCOPED_TRACE(std::string(entry.name) + " " + std::string(name_of(input_type)) + " " + std::string(name_of(fp8)));
            compare(random, random_case(random, entry.dialect, input_type, index_type, fp8), entry.dialect, totals);
            if (HasFatalFailure()) {
              return;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(totals.cases, 21 * 3 * 2 * 2 * cases_each);
  EXPECT_GT(totals.contended, 100);
  EXPECT_GT(totals.skipped, 10);
  RecordProperty("bytes_compared", std::to_string(totals.bytes));
}

TEST(Store, RandomBatchesAreWhatTheOracleSaysInDialectsDrawnFieldByField) {
  Random random(12);
  Totals totals;
  for (int i = 0; i < 240 * cases_each; ++i) {
    const Dialect dialect = random_dialect(random, static_cast<Layout>(random() % 2));
    const auto input_type = static_cast<ElementType>(random() % 3);
    const auto index_type = static_cast<IndexType>(random() % 2);
    const auto fp8 = static_cast<Fp8>(random() % 2);
    const Case run = random_case(random, dialect, input_type, index_type, fp8);
    compare(random, run, dialect, totals);
    if (HasFatalFailure()) {
      return;
    }
  }
  EXPECT_EQ(totals.cases, 240 * cases_each);
  EXPECT_GT(totals.contended, 100);
}

// Pools beyond 2 and 4 GiB are addressed and not allocated: the writes go to a map.
TEST(Store, NarrowOffsetsLandWhereTheOracleSays) {
  Random random(13);
  int moved = 0;
  for (int i = 0; i < 40 * cases_each; ++i) {
    Dialect dialect = find_dialect("strict", static_cast<Layout>(random() % 2))->dialect;
    dialect.offset_width = random() % 2 == 0 ? Width::int32 : Width::uint32;
    Case run = random_case(random, dialect, ElementType::bf16, IndexType::int64, Fp8::e4m3fn);
    run.shape.page_stride = (1 << 20) + 4 * draw(random, 0, 1000);
    run.shape.pages = 20'000;
    if (run.shape.tokens == 0) {
      continue;
    }
    for (std::int64_t& index : run.indices) {  // one page only, so that wrapped rows do not meet
      index = draw(random, 0, run.shape.page_size - 1);
    }
    const std::int64_t near = draw(random, 1, 7) * (std::int64_t{1} << 31) / run.shape.page_stride;
    const std::int64_t page = near + draw(random, -1, 1);
    for (std::int64_t& index : run.indices) {
      index += page * run.shape.page_size;
    }
    std::map<std::int64_t, std::uint8_t> written;
    store(run.shape, dialect, run.input.data(), bytes_of_indices(run).data(),
          [&](std::int64_t offset, std::uint8_t byte) { written[offset] = byte; });
    std::map<std::int64_t, std::uint8_t> expected;
    for (const OracleUnit& unit : oracle_store(run, dialect)) {
      for (std::size_t byte = 0; byte < unit.contenders.back().size(); ++byte) {
        expected[unit.offset + static_cast<std::int64_t>(byte)] = unit.contenders.back()[byte];
      }
    }
    ASSERT_EQ(written == expected, true) << "page " << page << ", stride " << run.shape.page_stride;
    moved += written.begin()->first / run.shape.page_stride != page ? 1 : 0;
  }
  EXPECT_GT(moved, 5 * cases_each);
}

TEST(Store, TokensOutsideThePoolAreLeftOutOfIt) {
  Random random(14);
  for (const std::string_view name : {"sglang-cuda", "sglang-triton"}) {
    const Dialect& dialect = find_dialect(name, Layout::flashmla)->dialect;
    Case run = random_case(random, dialect, ElementType::bf16, IndexType::int64, Fp8::e4m3fn);
    run.shape.tokens = 1;
    run.shape.pages = 2;
    run.shape.page_size = 4;
    run.shape.page_stride = smallest_page_stride(Layout::flashmla, 4);
    run.input.assign(static_cast<std::size_t>(run.shape.input_bytes()), 0x3F);
    run.indices = {100'000};  // no offset of it wraps in 32 bits
    const Pool before = random_pool(random, run.shape);
    Pool pool = before;
    model::store(run.shape, dialect, run.input.data(), bytes_of_indices(run).data(), pool.data());
    EXPECT_EQ(pool == before, true) << name;
  }
}

}  // namespace
}  // namespace kvproof
