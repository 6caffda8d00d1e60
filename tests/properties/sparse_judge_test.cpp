// A pool that is known by its touched pages is judged as one that is filled and copied: the same bytes are wrong, for the
// same reasons.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "altered.h"
#include "kvproof/device/error.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/property.h"
#include "kvproof/properties/stored_tiles.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/model.h"
#include "planted.h"

namespace kvproof {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

using Store = std::function<void(const kvproof_store_call&)>;

std::int32_t call_function(void* state, const kvproof_store_call* call, const char**) {
  (*static_cast<Store*>(state))(*call);
  return KVPROOF_STORED;
}

// The model's store of the first `tokens` tokens.
void store(const kvproof_store_call& call, std::int64_t tokens) {
  kvproof_store_call part = call;
  part.tokens = tokens;
  const char* message = nullptr;
  planted::right(nullptr, &part, &message);
}

Case case_of(Draw& draw, Layout layout, std::int64_t pages, std::int64_t page_size, std::int64_t page_stride,
             std::vector<std::int64_t> indices) {
  Case c = zero_case(layout, pages, page_size, page_stride, std::move(indices));
  for (std::uint8_t& byte : c.input) {
    byte = static_cast<std::uint8_t>(draw.bits() & 0x3F);
  }
  c.poison_seed = draw.bits();
  return c;
}

class SparseJudge : public testing::Test {
 protected:
  Trial trial(Arena& arena, const Case& c, Store store, Pad pad = Pad::keep, Duplicates duplicates = Duplicates::unit) {
    store_ = std::move(store);
    subject_ = planted::subject(c.shape.layout, call_function);
    subject_.state = &store_;
    subject_.dialect.pad = pad;
    subject_.duplicates = duplicates;
    return try_case(arena, subject_, c);
  }

  static Judgement all_wrong(const Trial& trial) {
    return wrong_of(trial, [](const WrongByte&) { return true; });
  }

  static Judgement of_one_owner(const Trial& trial) {
    return wrong_of(trial, [](const WrongByte& wrong) { return wrong.contenders <= 1; });
  }

  static std::int64_t contended(const Trial& trial) {
    return wrong_of(trial, [](const WrongByte& wrong) { return wrong.contenders > 1; }).wrong_bytes;
  }

  Arena sparse_{host_memory(), ArenaOptions{64 * mib, 0}};
  Arena dense_{host_memory(), ArenaOptions{64 * mib, 64 * mib}};
  Store store_;
  Subject subject_;
};

// What a wrong kernel does after its store, the same in every run.
struct Damage {
  std::int64_t offset;
  std::vector<std::uint8_t> bytes;
};

std::vector<Damage> draw_damage(Draw& draw, const Case& c, const Dialect& dialect) {
  std::vector<Damage> all;
  const std::int64_t size = c.shape.pool_bytes();
  for (std::int64_t left = draw.of({0, 1, 3, 8}); left > 0; --left) {
    Damage damage{draw.between(-2000, size + 1000), {}};
    switch (draw.below(4)) {
      case 0:
        damage.bytes = {static_cast<std::uint8_t>(draw.bits())};
        break;
      case 1:
        damage.bytes.assign(static_cast<std::size_t>(draw.between(1, 700)), 0);
        break;
      case 2:
        damage.bytes.resize(static_cast<std::size_t>(draw.between(1, 40)));
        for (std::uint8_t& byte : damage.bytes) {
          byte = static_cast<std::uint8_t>(draw.bits());
        }
        break;
      default:
        if (c.shape.tokens > 0) {  // a row gone astray
          RowImage row;
          model::encode_row(c.input.data() + draw.below(c.shape.tokens) * c.shape.row_stride, c.shape.input_type, dialect,
                            c.shape.fp8, &row);
          damage.bytes.assign(row.data, row.data + layout_shape(c.shape.layout).data_bytes);
        }
        break;
    }
    all.push_back(std::move(damage));
  }
  return all;
}

TEST_F(SparseJudge, FindsWhatTheDenseJudgeFinds) {
  Draw draw(5);
  std::int64_t compared = 0;
  std::int64_t missing = 0;
  std::int64_t strays = 0;
  std::int64_t rows = 0;
  std::int64_t known_rows = 0;
  std::int64_t contended_bytes = 0;
  for (int i = 0; i < 1500; ++i) {
    const Layout layout = i % 2 == 0 ? Layout::flashmla : Layout::indexer;
    const std::int64_t page_size = draw.of({1, 2, 3, 7, 64});
    const std::int64_t stride = smallest_page_stride(layout, page_size) + 4 * draw.of({0, 1, 6, 144, 3000, 9001});
    const std::int64_t pages = draw.between(1, 5);
    std::vector<std::int64_t> indices;
    for (std::int64_t t = draw.between(0, 12); t > 0; --t) {
      indices.push_back(draw.between(-1, pages * page_size - 1));
    }
    const Case c = case_of(draw, layout, pages, page_size, stride, indices);
    const Dialect dialect = planted::subject(layout, planted::right).dialect;
    const std::vector<Damage> damage = draw_damage(draw, c, dialect);
    const std::int64_t stored = draw.one_in(4) ? draw.below(c.shape.tokens + 1) : c.shape.tokens;
    const Pad pad = draw.one_in(3) && layout == Layout::flashmla && stored == c.shape.tokens ? Pad::zero : Pad::keep;
    const Duplicates duplicates = draw.of({Duplicates::unit, Duplicates::row, Duplicates::last, Duplicates::byte});
    const Store kernel = [&](const kvproof_store_call& call) {
      store(call, stored);
      for (const Damage& one : damage) {
        std::copy(one.bytes.begin(), one.bytes.end(), pool_of(call) + one.offset);
      }
    };
    const Trial there = trial(dense_, c, kernel, pad, duplicates);
    const Trial here = trial(sparse_, c, kernel, pad, duplicates);
    ASSERT_TRUE(here.seen[0].sparse.has_value());
    ASSERT_FALSE(there.seen[0].sparse.has_value());
    const Judgement wanted = of_one_owner(there);
    const Judgement found = of_one_owner(here);
    for (std::size_t k = 0; k < std::min(found.wrong.size(), wanted.wrong.size()); ++k) {
      const WrongByte& a = wanted.wrong[k];
      const WrongByte& b = found.wrong[k];
      ASSERT_EQ(a.offset, b.offset) << i << "\n" << describe(a, c, dialect) << "\n" << describe(b, c, dialect);
      const bool same = a.area == b.area && a.wrong == b.wrong && a.page == b.page && a.place.region == b.place.region &&
                        a.contenders == b.contenders && a.token == b.token &&
                        (a.wrong == Wrong::stray || a.expected == b.expected) &&
                        (a.wrong == Wrong::missing || a.found == b.found);
      ASSERT_TRUE(same) << i << "\n" << describe(a, c, dialect) << "\n" << describe(b, c, dialect);
      missing += a.wrong == Wrong::missing ? 1 : 0;
      strays += a.wrong == Wrong::stray ? 1 : 0;
      rows += a.holds_token >= 0 ? 1 : 0;
      known_rows += a.holds_token >= 0 && a.holds_token == b.holds_token && a.holds_tile == b.holds_tile ? 1 : 0;
    }
    ASSERT_EQ(found.wrong.size(), wanted.wrong.size()) << i << " " << describe_call(c);
    EXPECT_EQ(here.codes(), there.codes());
    compared += found.wrong_bytes;
    // Which contender comes nearest to what was there before depends on that.
    const std::int64_t torn = contended(there);
    EXPECT_LE(contended(here), torn);
    EXPECT_GE(contended(here), torn * 9 / 10) << describe_call(c);
    contended_bytes += torn;
  }
  EXPECT_GT(compared, 100'000);
  EXPECT_GT(missing, 10'000);
  EXPECT_GT(strays, 50'000);
  EXPECT_GT(rows, 20'000);
  // A zero of a row gone astray is seen under the other poison alone; there one byte in 256 may hide.
  EXPECT_GT(known_rows, rows * 98 / 100);
  EXPECT_GT(contended_bytes, 1000);
}

// Ten gigabytes of which a row is stored; 1,024 pages of a token in as many gigabytes have room for strays.
class FarSparseJudge : public SparseJudge {
 protected:
  static Case far_case(Layout layout = Layout::flashmla) {
    Draw draw(9);
    return case_of(draw, layout, 10, 64, 1024 * mib, {3 * 64 + 5, 9 * 64 + 63});
  }
};

TEST_F(FarSparseJudge, ARightStoreHoldsAndItsBytesAreCounted) {
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    const Case c = far_case(layout);
    const Trial right = trial(sparse_, c, [&](const kvproof_store_call& call) { store(call, 2); });
    EXPECT_TRUE(all_wrong(right).holds());
    EXPECT_EQ(right.codes(), 2 * 2 * layout_shape(layout).codes);
    // Of the pool no more than its touched pages, and all bytes of those.
    const std::int64_t touched =
        static_cast<std::int64_t>(right.seen[0].sparse->touched.size()) * right.seen[0].sparse->page_bytes;
    EXPECT_GE(touched, 2 * 4096);
    EXPECT_LE(touched, 8 * 4096);
    const std::int64_t given = 2 * (c.shape.input_bytes() + c.shape.indices_bytes());
    EXPECT_GE(right.bytes(), 2 * touched + given);
    EXPECT_LE(right.bytes(), 2 * touched + given + 4 * 2 * 4096 + 64);
  }
}

TEST_F(FarSparseJudge, ZerosInAPageThatIsNobodysAreSeenUnderTheOtherPoison) {
  const Case c = far_case();
  const std::int64_t at = 5 * c.shape.page_stride + 77;
  const Trial wrong = trial(sparse_, c, [&](const kvproof_store_call& call) {
    store(call, 2);
    std::fill_n(pool_of(call) + at, 100, std::uint8_t{0});
  });
  EXPECT_TRUE(wrong.judged[0].holds());
  const Judgement all = all_wrong(wrong);
  ASSERT_EQ(all.wrong_bytes, 100);
  EXPECT_EQ(all.wrong.front().offset, at);
  EXPECT_EQ(all.wrong.front().wrong, Wrong::stray);
  EXPECT_EQ(all.wrong.front().found, 0);
}

TEST_F(FarSparseJudge, ARowOfZerosThatWasNeverWrittenIsMissing) {
  Case c = far_case();
  std::fill(c.input.begin(), c.input.end(), std::uint8_t{0});
  const Trial wrong = trial(sparse_, c, [&](const kvproof_store_call& call) { store(call, 1); });
  for (const Judgement& judged : wrong.judged) {
    ASSERT_EQ(judged.wrong_bytes, 576 + 7);
    for (const WrongByte& byte : judged.wrong) {
      EXPECT_EQ(byte.wrong, Wrong::missing);
      EXPECT_EQ(byte.token, 1);
    }
  }
}

TEST_F(FarSparseJudge, AContendedRowOfZerosThatWasNeverWrittenIsMissing) {
  Case c = far_case();
  std::fill(c.input.begin(), c.input.end(), std::uint8_t{0});
  c.indices = {70, 70};
  const Trial wrong = trial(sparse_, c, [](const kvproof_store_call&) {});
  for (const Judgement& judged : wrong.judged) {
    EXPECT_EQ(judged.wrong_bytes, 576 + 7);
  }
}

TEST_F(FarSparseJudge, ACodeThatWasNeverWrittenIsNoRoundingError) {
  Case c = far_case(Layout::indexer);
  store_ = [](const kvproof_store_call&) {};
  Subject subject = planted::subject(Layout::indexer, call_function);
  subject.state = &store_;
  subject.dialect = find_dialect("sglang-triton", Layout::indexer)->dialect;
  subject.dialect.offset_width = Width::bits64;
  subject.dialect.invalid = InvalidIndex::outside;
  const Trial wrong = try_case(sparse_, subject, c);
  EXPECT_EQ(wrong.judged[0].explained, 0);
  EXPECT_EQ(wrong.judged[0].wrong_bytes, 2 * 132);
}

TEST_F(FarSparseJudge, ARefusalThatWritesIsSeen) {
  const Case c = far_case();
  static const auto refuse = [](void*, const kvproof_store_call* call, const char** message) -> std::int32_t {
    pool_of(*call)[std::int64_t{8} << 30] = 1;
    *message = "no";
    return KVPROOF_REFUSED;
  };
  const Trial wrong = try_case(sparse_, planted::subject(Layout::flashmla, +refuse), c);
  ASSERT_TRUE(wrong.refused());
  EXPECT_EQ(all_wrong(wrong).wrong_bytes, 1);
}

TEST_F(FarSparseJudge, PropertiesOfStoredTilesSeeTheTiles) {
  const Case c = far_case();
  const Trial right = trial(sparse_, c, [&](const kvproof_store_call& call) { store(call, 2); });
  int tiles = 0;
  for_each_stored_tile(right, right.seen[0], [&](const StoredTile& stored) {
    const RowImage& row = right.expected.rows[static_cast<std::size_t>(stored.page == 3 ? 0 : 1)];
    EXPECT_TRUE(std::equal(stored.codes, stored.codes + 64, row.data + stored.tile * 64));
    EXPECT_EQ(*stored.scale, row.scales[stored.tile]);
    EXPECT_TRUE(was_written(right.seen[0], stored.scale_offset));
    ++tiles;
  });
  EXPECT_EQ(tiles, 14);
  const Trial wrong = trial(sparse_, c, [&](const kvproof_store_call& call) {
    store(call, 2);
    pool_of(call)[9 * call.page_stride + 64 * 576 + 63 * 8 + 4] = 255;
  });
  EXPECT_TRUE(scale_in_bounds().broken(wrong).has_value());
}

TEST_F(FarSparseJudge, AKernelThatReadsTheWholePoolHasFailed) {
  const Case c = far_case();
  const Trial wrong = trial(sparse_, c, [&](const kvproof_store_call& call) {
    store(call, 2);
    std::fill_n(pool_of(call), 300 * mib, std::uint8_t{1});
  });
  ASSERT_TRUE(misbehaviour(wrong).has_value());
  EXPECT_NE(misbehaviour(wrong)->find("MiB and more of a pool of 10240 MiB"), std::string::npos) << *misbehaviour(wrong);
}

TEST_F(FarSparseJudge, RunsOfAPoolThatIsTooLargeToExpandAreRefusedAloud) {
  const Case c = far_case();
  const Subject subject = planted::subject(Layout::flashmla, planted::right);
  Rig rig(sparse_, subject, c);
  EXPECT_THROW(rig.run(c), CannotRun);
  Case small = c;
  small.shape.page_stride = 40'000;
  const auto after = rig.run(small);
  ASSERT_TRUE(after.has_value());
  ASSERT_EQ(static_cast<std::int64_t>(after->bytes.size()), small.shape.pool_bytes());
  const Expectation expected = expect(small, subject.dialect, Duplicates::unit);
  for (std::int64_t token = 0; token < 2; ++token) {
    EXPECT_TRUE(std::equal(expected.rows[static_cast<std::size_t>(token)].data,
                           expected.rows[static_cast<std::size_t>(token)].data + 576,
                           after->data(small.indices[static_cast<std::size_t>(token)])));
  }
}

// A pool that stays on the device has shown nothing to a property that looks at what was stored.
TEST_F(FarSparseJudge, APoolThatIsNotHereIsNoLookAtItsTiles) {
  const Case c = far_case();
  Trial right = trial(sparse_, c, [&](const kvproof_store_call& call) { store(call, 2); });
  EXPECT_TRUE(right.has_pools());
  right.seen[1].sparse.reset();
  EXPECT_FALSE(right.has_pools());
  EXPECT_TRUE(scale_in_bounds().looks_at_pool);
  EXPECT_TRUE(no_nan_code().looks_at_pool);
}

}  // namespace
}  // namespace kvproof
