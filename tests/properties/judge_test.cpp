// The judge sees every byte: each one changed in turn is found, named and counted.
#include "kvproof/properties/judge.h"

#include <gtest/gtest.h>

#include "kvproof/properties/case_generator.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/trial.h"
#include "planted.h"

namespace kvproof {
namespace {

Case small_case(Layout layout, std::vector<std::int64_t> indices) {
  Case c;
  c.shape.layout = layout;
  c.shape.pages = 2;
  c.shape.page_size = 2;
  c.shape.page_stride = production_page_stride(layout, 2) + 16;
  c.shape.tokens = static_cast<std::int64_t>(indices.size());
  c.shape.row_stride = c.shape.row_bytes() + 16;
  c.indices = std::move(indices);
  c.input.resize(static_cast<std::size_t>(c.shape.input_bytes()));
  Draw draw(3);
  for (std::uint8_t& byte : c.input) {
    byte = static_cast<std::uint8_t>(draw.bits() & 0x3F);
  }
  c.poison_seed = 99;
  return c;
}

class ModelRun {
 public:
  explicit ModelRun(const Case& c, Duplicates duplicates = Duplicates::unit)
      : case_(c), subject_(planted::subject(c.shape.layout, planted::right)), indices_(index_bytes_of(c)) {
    expected_ = expect(c, subject_.dialect, duplicates);
    Arena arena(host_memory());
    seen = arena.run(subject_, c.shape, c.input, indices_, Poison{c.poison_seed, false});
  }

  Judgement judged() const { return judge(expected_, seen, case_.input, indices_); }

  Observation seen;

 private:
  Case case_;
  Subject subject_;
  std::vector<std::uint8_t> indices_;
  Expectation expected_;
};

class EveryByte : public ::testing::TestWithParam<Layout> {};

TEST_P(EveryByte, ChangedInTurnIsFoundAtItsPlace) {
  const Case c = small_case(GetParam(), {3, 0, -1});
  ModelRun run(c);
  const Judgement clean = run.judged();
  EXPECT_TRUE(clean.holds());
  std::int64_t all = 0;
  struct Part {
    GuardedBytes* bytes;
    Area before;
    Area inside;
    Area after;
  };
  for (const Part& part : {Part{&run.seen.pool, Area::guard_before_pool, Area::pool, Area::guard_after_pool},
                           Part{&run.seen.input, Area::guard_before_input, Area::input, Area::guard_after_input},
                           Part{&run.seen.indices, Area::guard_before_indices, Area::indices, Area::guard_after_indices}}) {
    all += static_cast<std::int64_t>(part.bytes->bytes.size());
    const auto total = static_cast<std::int64_t>(part.bytes->bytes.size());
    // Every byte of the buffer and near it; further out in the guards every 97th.
    for (std::int64_t i = 0; i < total; ++i) {
      const std::int64_t offset = i - part.bytes->before;
      if ((offset < -64 || offset >= part.bytes->size() + 64) && i % 97 != 0) {
        continue;
      }
      std::uint8_t& byte = part.bytes->bytes[static_cast<std::size_t>(i)];
      byte ^= 0x10;
      const Judgement judged = run.judged();
      ASSERT_EQ(judged.wrong_bytes, 1) << offset;
      EXPECT_EQ(judged.wrong.front().offset, offset);
      EXPECT_EQ(judged.wrong.front().found, byte);
      EXPECT_EQ(judged.wrong.front().area,
                offset < 0 ? part.before : (offset < part.bytes->size() ? part.inside : part.after));
      if (judged.wrong.front().area == Area::pool) {
        const std::int64_t slot = judged.wrong.front().place.slot;
        const bool pad = judged.wrong.front().place.region == Region::pad;
        const bool owned =
            slot >= 0 && !pad && (judged.wrong.front().page * 2 + slot == 0 || judged.wrong.front().page * 2 + slot == 3);
        const bool as_poison = byte == poison_byte(pool_poison(run.seen.poison), offset);
        EXPECT_EQ(judged.wrong.front().wrong, owned ? (as_poison ? Wrong::missing : Wrong::value) : Wrong::stray) << offset;
      }
      byte ^= 0x10;
    }
  }
  EXPECT_EQ(clean.bytes, all);  // not one byte is left out
}

INSTANTIATE_TEST_SUITE_P(Layouts, EveryByte, ::testing::Values(Layout::flashmla, Layout::indexer));

TEST(Judge, TellsMissingFromWrong) {
  const Case c = small_case(Layout::flashmla, {0});
  ModelRun run(c);
  std::uint8_t& code = run.seen.pool.bytes[static_cast<std::size_t>(run.seen.pool.before) + 70];
  const std::uint8_t expected = code;
  code = poison_byte(pool_poison(run.seen.poison), 70);
  const Judgement judged = run.judged();
  ASSERT_EQ(judged.wrong_bytes, 1);
  EXPECT_EQ(judged.wrong.front().wrong, Wrong::missing);
  EXPECT_EQ(judged.wrong.front().expected, expected);
  EXPECT_NE(describe(judged.wrong.front(), c, planted::subject(Layout::flashmla, planted::right).dialect)
                .find("missing code of page 0 slot 0 tile 1 element 6, token 0 (index 0)"),
            std::string::npos);
}

// The pool judged as the GPU does it, sixteen bytes at a time, finds what the host's judge finds.
struct Listed {
  std::vector<Finding> list;

  std::int64_t room(int) const { return 0; }
  void put(std::int64_t, const Finding& finding) { list.push_back(finding); }
};

template <Layout layout>
std::vector<Finding> in_words(const Expectation& expected, const Observation& seen) {
  const ExpectationView view = expected.view(pool_poison(seen.poison));
  Listed found;
  const std::int64_t size = seen.pool.size();
  std::int64_t at = 0;
  for (; made_of_words(view.shape) && at + 16 <= size; at += 16) {
    judge_two_words<layout>(view, at / view.shape.page_stride, static_cast<std::uint32_t>(at % view.shape.page_stride), at,
                            load_word(seen.pool.data() + at), load_word(seen.pool.data() + at + 8), found);
  }
  for (; at < size; ++at) {
    judge_pool_byte(view, at, seen.pool.data()[at], found);
  }
  for (std::int64_t slot = 0; slot < view.shape.capacity(); ++slot) {
    const std::int32_t token = expected.first[static_cast<std::size_t>(slot)];
    if (token != nobody && expected.next[static_cast<std::size_t>(token)] != nobody) {
      const ContendedSlot contended(view, seen.pool.data(), slot / view.shape.page_size, slot % view.shape.page_size);
      for (int unit = 0; unit < units_of(view); ++unit) {
        contended.judge(expected.duplicates, unit, found);
      }
    }
  }
  return found.list;
}

TEST(Judge, InWordsFindsWhatItFindsByteByByte) {
  Draw draw(11);
  std::int64_t compared = 0;
  for (int i = 0; i < 400; ++i) {
    const Layout layout = i % 2 == 0 ? Layout::flashmla : Layout::indexer;
    Case c = small_case(layout, {});
    c.shape.pages = draw.between(1, 4);
    c.shape.page_size = draw.of({1, 2, 3, 4, 7, 64});
    c.shape.page_stride = smallest_page_stride(layout, c.shape.page_size) + draw.of({0, 8, 20, 24, 16, 3});
    for (std::int64_t t = draw.between(0, 12); t > 0; --t) {
      c.indices.push_back(draw.between(-1, std::min<std::int64_t>(c.shape.capacity() - 1, 9)));
    }
    c.shape.tokens = static_cast<std::int64_t>(c.indices.size());
    c.input.resize(static_cast<std::size_t>(c.shape.input_bytes()));
    for (std::uint8_t& byte : c.input) {
      byte = static_cast<std::uint8_t>(draw.bits() & 0x3F);
    }
    const std::vector<std::uint8_t> indices = index_bytes_of(c);
    const Subject subject = planted::subject(layout, planted::right);
    Dialect dialect = subject.dialect;
    dialect.pad = i % 3 == 0 ? Pad::zero : Pad::keep;
    const Expectation expected =
        expect(c, dialect, draw.of({Duplicates::unit, Duplicates::row, Duplicates::last, Duplicates::byte}));
    Arena arena(host_memory());
    Observation seen = arena.run(subject, c.shape, c.input, indices, Poison{c.poison_seed, i % 5 == 0});
    for (std::int64_t changes = draw.of({0, 1, 30, 1000}); changes > 0; --changes) {
      seen.pool.bytes[static_cast<std::size_t>(seen.pool.before + draw.below(seen.pool.size()))] ^=
          static_cast<std::uint8_t>(1 + draw.below(255));
    }
    std::vector<Finding> words =
        layout == Layout::flashmla ? in_words<Layout::flashmla>(expected, seen) : in_words<Layout::indexer>(expected, seen);
    const auto count = static_cast<std::int64_t>(words.size());
    const Judgement there = named(expected, pool_poison(seen.poison), std::move(words), count, c.input);
    const Judgement here = judge(expected, seen, c.input, indices);
    ASSERT_EQ(there.wrong.size(), here.wrong.size()) << describe_call(c);
    for (std::size_t k = 0; k < here.wrong.size(); ++k) {
      ASSERT_EQ(there.wrong[k].offset, here.wrong[k].offset) << describe_call(c);
      ASSERT_EQ(describe(there.wrong[k], c, dialect), describe(here.wrong[k], c, dialect));
      ASSERT_EQ(there.wrong[k].contenders, here.wrong[k].contenders);
    }
    compared += here.wrong_bytes;
  }
  EXPECT_GT(compared, 10000);
}

TEST(Judge, ARowGoneAstrayIsKnownByItsBytes) {
  const Case c = small_case(Layout::flashmla, {3, -1});
  const Subject subject = planted::subject(Layout::flashmla, planted::right);
  RowImage row;
  encode_row(c.input.data() + c.shape.row_stride, c.shape.input_type, subject.dialect, c.shape.fp8, &row);
  const std::vector<std::uint8_t> indices = index_bytes_of(c);
  Arena arena(host_memory());
  Observation seen = arena.run(subject, c.shape, c.input, indices, Poison{c.poison_seed, false});
  // The row of the skipped token, far before the pool and in a slot that is nobody's.
  seen.far.mirror = std::int64_t{64} << 20;
  for (int i = 0; i < 576; ++i) {
    seen.far.changed.push_back({-100'000 + i, false, static_cast<std::uint8_t>(~row.data[i]), row.data[i]});  // it changed
    ++seen.far.changed_bytes;
    seen.pool.bytes[static_cast<std::size_t>(seen.pool.before + 576 + i)] = row.data[i];
  }
  const Judgement judged = judge(expect(c, subject.dialect, Duplicates::unit), seen, c.input, indices);
  std::string told;
  for (const WrongByte& wrong : judged.wrong) {
    told += describe(wrong, c, subject.dialect) + "\n";
  }
  EXPECT_NE(told.find("stray guard before the pool, 99808 bytes before it, modulo 64 MiB, holds codes of tile 3 of token 1"),
            std::string::npos)
      << told;
  EXPECT_NE(told.find("stray code of page 0 slot 1 tile 3 element 0, no token's, holds codes of tile 3 of token 1"),
            std::string::npos)
      << told;
  EXPECT_NE(told.find("holds rope of token 1"), std::string::npos) << told;
}

// A slot that two tokens name holds, unit by unit, what either of them gives; or one whole row; or the last one's.
class Contended : public ::testing::Test {
 protected:
  // The pool that token 0 alone would leave in slot 1, and token 1 alone.
  void SetUp() override {
    both_ = small_case(Layout::flashmla, {1, 1});
    for (int token = 0; token < 2; ++token) {
      Case alone = both_;
      alone.shape.tokens = 1;
      alone.indices = {1};
      alone.input.assign(both_.input.begin() + token * both_.shape.row_stride,
                         both_.input.begin() + token * both_.shape.row_stride + both_.shape.row_bytes());
      pools_[token] = ModelRun(alone).seen.pool;
    }
  }

  // Judges slot 1 made of tile 0 of token 0, all else of token 1, `extra` changed by one bit.
  Judgement judged(Duplicates duplicates, bool mixed, std::int64_t extra = -1) {
    ModelRun run(both_, duplicates);
    run.seen.pool = pools_[1];
    if (mixed) {
      for (std::int64_t i = 576; i < 640; ++i) {
        at(run, i) = pools_[0].bytes[static_cast<std::size_t>(pools_[0].before + i)];
      }
    }
    if (extra >= 0) {
      at(run, extra) ^= 1;
    }
    return run.judged();
  }

  // Tile 0 of slot 1 half of token 0, half of token 1.
  Judgement torn(Duplicates duplicates) {
    ModelRun run(both_, duplicates);
    run.seen.pool = pools_[1];
    for (std::int64_t i = 576; i < 608; ++i) {
      at(run, i) = pools_[0].bytes[static_cast<std::size_t>(pools_[0].before + i)];
    }
    return run.judged();
  }

  static std::uint8_t& at(ModelRun& run, std::int64_t offset) {
    return run.seen.pool.bytes[static_cast<std::size_t>(run.seen.pool.before + offset)];
  }

  Case both_;
  GuardedBytes pools_[2];
};

TEST_F(Contended, UnitsOfEitherTokenHold) { EXPECT_TRUE(judged(Duplicates::unit, true).holds()); }

TEST_F(Contended, ATornUnitIsWrong) {
  const Judgement torn = judged(Duplicates::unit, true, 600);
  ASSERT_EQ(torn.wrong_bytes, 1);
  EXPECT_EQ(torn.wrong.front().offset, 600);
  EXPECT_EQ(torn.wrong.front().contenders, 2);
}

TEST_F(Contended, ATornUnitHoldsWhereOnlyBytesArePromisedAndAForeignByteDoesNot) {
  // Bytes 600 and 601 of the other contender: torn inside tile 0.
  EXPECT_TRUE(torn(Duplicates::byte).holds());
  EXPECT_GT(torn(Duplicates::unit).wrong_bytes, 0);
  EXPECT_EQ(judged(Duplicates::byte, true, 600).wrong_bytes, 1);
}

TEST_F(Contended, AMixedRowIsWrongWhereARowIsPromised) {
  EXPECT_GT(judged(Duplicates::row, true).wrong_bytes, 0);
  EXPECT_TRUE(judged(Duplicates::row, false).holds());
}

TEST_F(Contended, OnlyTheLastTokenHoldsWhereThatIsPromised) {
  EXPECT_TRUE(judged(Duplicates::last, false).holds());
  EXPECT_GT(judged(Duplicates::last, true).wrong_bytes, 0);
}

}  // namespace
}  // namespace kvproof
