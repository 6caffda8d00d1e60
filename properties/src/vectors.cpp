#include "kvproof/properties/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kvproof/properties/fnv1a.h"
#include "kvproof/properties/values.h"
#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

struct Flag {
  std::string_view name;
  std::string_view prose;
};

// What each flag's vectors catch.
constexpr std::array flags{
    Flag{"ZeroTile",
         "a tile of nothing but zeros: no floor divides 0 by 0 or stores byte 0, another port's floor stores another scale"},
    Flag{"BinadeEdge",
         "amax = M / 256 * 2^k and both neighbours: an inexact log2, floor for ceil, or +1 always is one binade off here"},
    Flag{"Rounding",
         "elements halfway between two codes and beside it: half away from zero, truncation, double rounding through fp16"},
    Flag{"SubnormalCode",
         "elements around odd multiples of half the smallest code: flushed subnormal codes, wrong rounding to zero"},
    Flag{"FloorNeighbour", "amax on and beside the floor: another floor, or a floor on the ratio where it belongs on amax"},
    Flag{"Extremes", "the largest and smallest exponents in one tile: overflow of the scale, exponent not clamped"},
    Flag{"SignedZero", "negative zeros and negative underflow: 0x80 in e4m3fn, but NaN in e4m3fnuz"},
    Flag{"SubnormalInput", "subnormal input: flush to zero in the amax or the quantise"},
    Flag{"WideInput", "fp16 or fp32 input: read as bf16, or rope not rounded to nearest even"},
    Flag{"RopeBits", "rope NaN payloads, negative zeros and subnormals: a copy through float arithmetic changes them"},
    Flag{"NaN", "NaN elements: they must not reach the amax, and their code is the dialect's"},
    Flag{"Infinity", "infinite elements: their scale and code are the dialect's"},
    Flag{"PageEdge", "first and last slots of pages: a shifted slot lands in another page or outside the pool"},
    Flag{"InvalidIndex", "indices that the dialect skips: an unguarded store writes before or past the pool"},
    Flag{"DuplicateIndex",
         "several tokens for one slot, as graph padding to slot 0 makes them: each unit is that of one of them"},
    Flag{"PageTail", "a page longer than its slots: writes to the tail, or a page stride taken for the slots' bytes"},
    Flag{"PageStride", "a page stride far beyond the slots, as in a cache that packs layers: pages at the wrong distance"},
    Flag{"RowStride", "rows further apart than their values: the row stride ignored"},
    Flag{"Int32Index", "32-bit indices: read as 64-bit ones, two at a time"},
    Flag{"EmptyBatch", "no tokens at all: nothing may be written"},
    Flag{"Fnuz", "e4m3fnuz: bias or largest value of e4m3fn, 0x80 for an underflow"},
    Flag{"OddPageSize", "a page size that is no power of two: shift and mask for division"},
    Flag{"ExactReciprocal",
         "codes of a correctly rounded 1/s: a port that declares an error of 1 ulp may differ by one code where x/s is a "
         "near tie"},
};

class Maker {
 public:
  explicit Maker(const NamedDialect& entry)
      : entry_(entry),
        draw_(fnv1a(fmt::format("{}/{}", name_of(entry.dialect.layout), entry.name))),
        layout_(layout_shape(entry.dialect.layout)) {}

  CaseFile make() {
    values("an all-zero tile in every place", {"ZeroTile"}, ValueClass::zeros, ElementType::bf16, 1);
    values("amax at binade edges and one unit beside them", {"BinadeEdge"}, ValueClass::binade_edge, ElementType::bf16, 3);
    values("amax at binade edges and one unit beside them, fp32", {"BinadeEdge", "WideInput"}, ValueClass::binade_edge,
           ElementType::fp32, 2);
    values("elements halfway between two codes and beside it", {"Rounding"}, ValueClass::ties, ElementType::bf16, 2);
    values("elements halfway between two codes and beside it, fp32", {"Rounding", "WideInput"}, ValueClass::ties,
           ElementType::fp32, 2);
    values("elements around odd multiples of half the smallest code", {"SubnormalCode"}, ValueClass::half_subnormals,
           ElementType::bf16, 2);
    values("amax on and beside the floor", {"FloorNeighbour"}, ValueClass::floor_neighbours, ElementType::bf16, 2);
    values("amax on and beside the floor, fp32", {"FloorNeighbour", "WideInput"}, ValueClass::floor_neighbours,
           ElementType::fp32, 2);
    values("largest and smallest magnitudes together", {"Extremes"}, ValueClass::extremes, ElementType::bf16, 2);
    values("negative and positive zeros", {"SignedZero"}, ValueClass::signed_zeros, ElementType::bf16, 2);
    values("subnormal input", {"SubnormalInput"}, ValueClass::subnormals, ElementType::bf16, 1);
    values("real-looking rows, fp16", {"WideInput"}, ValueClass::spread, ElementType::fp16, 2);
    values("real-looking rows, fp32", {"WideInput"}, ValueClass::spread, ElementType::fp32, 2);
    if (layout_.rope != 0) {
      values("rope of every kind: NaN payloads, negative zeros, subnormals", {"RopeBits"}, ValueClass::spread,
             ElementType::bf16, 2);
    }
    if (entry_.dialect.nan != NanCode::unstated) {
      values("NaN of both signs among finite elements, and a tile of nothing else", {"NaN"}, ValueClass::nans,
             ElementType::bf16, 2);
    }
    if (entry_.dialect.infinity != Infinity::unstated) {
      values("infinities of both signs among finite elements", {"Infinity"}, ValueClass::infinities, ElementType::bf16, 2);
    }
    if (entry_.fnuz) {
      fp8_ = Fp8::e4m3fnuz;
      values("real-looking rows as e4m3fnuz", {"Fnuz"}, ValueClass::spread, ElementType::bf16, 2);
      values("elements around half the smallest code as e4m3fnuz", {"Fnuz", "SubnormalCode", "SignedZero"},
             ValueClass::half_subnormals, ElementType::bf16, 2);
      values("amax at binade edges as e4m3fnuz", {"Fnuz", "BinadeEdge"}, ValueClass::binade_edge, ElementType::bf16, 2);
      fp8_ = Fp8::e4m3fn;
    }
    addresses();
    return std::move(file_);
  }

 private:
  void values(const std::string& comment, std::vector<std::string> with, ValueClass value_class, ElementType type,
              std::int64_t tokens) {
    Case c = shape(type, IndexType::int64, 2, 2, tokens);
    for (std::int64_t token = 0; token < tokens; ++token) {
      c.indices.push_back((token * 3 + 1) % c.shape.capacity());
    }
    fill(c, value_class);
    add(comment, std::move(with), std::move(c));
  }

  void addresses() {
    const Dialect& d = entry_.dialect;
    batch("first and last slots of every page", {"PageEdge"}, shape(ElementType::bf16, IndexType::int64, 2, 3, 0),
          {0, 5, 2, 3});
    batch("the last slot of a page of 64, its tail untouched", {"PageTail", "PageEdge"},
          shape(ElementType::bf16, IndexType::int64, 64, 2, 0), {127, 64});
    Case wide = shape(ElementType::bf16, IndexType::int64, 2, 3, 0);
    wide.shape.page_stride += 5 * 576;
    batch("pages far apart, as in a cache that packs layers", {"PageStride", "PageTail"}, wide, {4, 1});
    Case strided = shape(ElementType::bf16, IndexType::int64, 2, 2, 0);
    strided.shape.row_stride += 64;
    batch("rows 64 bytes further apart than their values", {"RowStride"}, strided, {1, 3, 2});
    batch("32-bit indices", {"Int32Index"}, shape(ElementType::bf16, IndexType::int32, 2, 2, 0), {3, 1, 2});
    batch("no tokens", {"EmptyBatch"}, shape(ElementType::bf16, IndexType::int64, 2, 1, 0), {});
    batch("a page size of 5", {"OddPageSize"}, shape(ElementType::bf16, IndexType::int64, 5, 3, 0), {14, 5, 9});
    batch("padding rows that all carry index 0", {"DuplicateIndex"}, shape(ElementType::bf16, IndexType::int64, 2, 2, 0),
          {2, 0, 0, 0});
    std::vector<std::int64_t> skipped;
    for (const std::int64_t index :
         {std::int64_t{-1}, std::int64_t{-2}, std::int64_t{4}, std::int64_t{5}, std::int64_t{0}}) {
      if (locate(index, 2, 2, d).fate == Fate::skipped) {
        skipped.push_back(index);
      }
    }
    if (!skipped.empty()) {
      std::vector<std::int64_t> indices{3};
      indices.insert(indices.end(), skipped.begin(), skipped.end());
      batch("one valid index, then indices that the dialect skips", {"InvalidIndex"},
            shape(ElementType::bf16, IndexType::int64, 2, 2, 0), indices);
      batch("one valid index, then 32-bit indices that the dialect skips", {"InvalidIndex", "Int32Index"},
            shape(ElementType::bf16, IndexType::int32, 2, 2, 0), indices);
    }
  }

  Case shape(ElementType type, IndexType index_type, std::int64_t page_size, std::int64_t pages, std::int64_t tokens) const {
    Case c;
    c.shape.layout = entry_.dialect.layout;
    c.shape.input_type = type;
    c.shape.index_type = index_type;
    c.shape.fp8 = fp8_;
    c.shape.tokens = tokens;
    c.shape.pages = pages;
    c.shape.page_size = page_size;
    c.shape.page_stride = production_page_stride(c.shape.layout, page_size);
    c.shape.row_stride = c.shape.row_bytes();
    return c;
  }

  void batch(const std::string& comment, std::vector<std::string> with, Case c, std::vector<std::int64_t> indices) {
    c.shape.tokens = static_cast<std::int64_t>(indices.size());
    c.indices = std::move(indices);
    fill(c, ValueClass::spread);
    add(comment, std::move(with), std::move(c));
  }

  void fill(Case& c, ValueClass value_class) {
    c.input.assign(static_cast<std::size_t>(c.shape.input_bytes()), 0xA5);
    for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
      std::uint8_t* row = c.input.data() + token * c.shape.row_stride;
      for (int tile = 0; tile < layout_.tiles; ++tile) {
        draw_tile(draw_, value_class, entry_.dialect, c.shape.fp8, c.shape.input_type, row, tile * layout_.tile,
                  layout_.tile);
      }
      draw_rope(draw_, entry_.dialect, c.shape.input_type, row, layout_.codes, layout_.rope);
    }
  }

  void add(const std::string& comment, std::vector<std::string> with, Case c) {
    if (entry_.dialect.reciprocal_ulp != 0 && entry_.dialect.scale == Scale::fp32) {
      with.emplace_back("ExactReciprocal");
    }
    c.poison_seed = draw_.bits();
    FiledCase filed;
    filed.id = fmt::format("{}-{}-{:03}", name_of(entry_.dialect.layout), entry_.name, file_.cases.size() + 1);
    filed.comment = comment;
    for (const std::string& name : with) {
      const auto flag = std::find_if(flags.begin(), flags.end(), [&](const Flag& known) { return known.name == name; });
      file_.flags[name] = flag->prose;
    }
    filed.flags = std::move(with);
    filed.dialect_name = entry_.name;
    filed.dialect = entry_.dialect;
    filed.expected = expected_runs(c, entry_.dialect);
    filed.run = std::move(c);
    file_.cases.push_back(std::move(filed));
  }

  const NamedDialect& entry_;
  Draw draw_;
  LayoutShape layout_;
  Fp8 fp8_ = Fp8::e4m3fn;
  CaseFile file_;
};

}  // namespace

CaseFile make_vectors(const NamedDialect& entry) { return Maker(entry).make(); }

}  // namespace kvproof
