#include "kvproof/properties/case_generator.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "kvproof/properties/judge.h"

namespace kvproof {
namespace {

std::int64_t draw_page_size(Draw& draw, const Subject& subject) {
  if (!subject.page_sizes.empty()) {
    return draw.of(subject.page_sizes);
  }
  // Production's own, and sizes that are no power of two; now and then any, for a kernel with a path of its own for it.
  return draw.of<std::int64_t>({2, 2, 64, 64, 256, 1, 3, 5, 7, 16, 100, 128, 32, draw.between(1, 256)});
}

std::int64_t draw_page_stride(Draw& draw, Layout layout, std::int64_t page_size) {
  const std::int64_t smallest = smallest_page_stride(layout, page_size);
  const std::int64_t production = production_page_stride(layout, page_size);
  switch (draw.below(8)) {
    case 0:
      return smallest;
    case 1:
      return (smallest + 15) / 16 * 16 + 16 * draw.below(64);
    case 2:
      return smallest + 4 * draw.below(64);
    case 3:
      return production + 576 * draw.between(1, 4);
    default:
      return production;
  }
}

std::int64_t draw_row_stride(Draw& draw, const StoreShape& shape) {
  const std::int64_t row = shape.row_bytes();
  switch (draw.below(12)) {
    case 0:
    case 1:
      return row + 16 * draw.between(1, 16);
    case 2:
    case 3:
      return row + element_bytes(shape.input_type) * draw.between(1, 7);
    case 4:
      return row * draw.between(2, 16);  // a part of a fused projection
    default:
      return row;
  }
}

std::int64_t draw_tokens(Draw& draw, const CaseFocus& focus, int size) {
  const std::int64_t most = std::max<std::int64_t>(1, focus.most_tokens * size / 100);
  switch (draw.below(16)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return std::min<std::int64_t>(most, draw.between(31, 33));
    default:
      return draw.between(1, most);
  }
}

void draw_row(Draw& draw, const CaseFocus& focus, const Subject& subject, const StoreShape& shape, std::uint8_t* row) {
  const LayoutShape layout = layout_shape(shape.layout);
  for (int tile = 0; tile < layout.tiles; ++tile) {
    draw_tile(draw, draw_class(draw, focus.values, subject.dialect), subject.dialect, shape.fp8, shape.input_type, row,
              tile * layout.tile, layout.tile);
  }
  draw_rope(draw, subject.dialect, shape.input_type, row, layout.codes, layout.rope);
}

// The bytes between rows are nobody's values: a kernel that reads them is wrong, so they are drawn too.
std::vector<std::uint8_t> draw_input(Draw& draw, const CaseFocus& focus, const Subject& subject, const StoreShape& shape) {
  std::vector<std::uint8_t> input(static_cast<std::size_t>(shape.input_bytes()));
  for (std::uint8_t& byte : input) {
    byte = 0xA5;
  }
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    std::uint8_t* row = input.data() + token * shape.row_stride;
    if (focus.fresh_rows || token < 4) {
      draw_row(draw, focus, subject, shape, row);
    } else {
      // A rotation of an earlier row tells tokens apart at the cost of a copy.
      const std::uint8_t* from = input.data() + (token % 4) * shape.row_stride;
      const std::int64_t turn = element_bytes(shape.input_type) * (token % 61);
      std::memcpy(row, from + turn, static_cast<std::size_t>(shape.row_bytes() - turn));
      std::memcpy(row + shape.row_bytes() - turn, from, static_cast<std::size_t>(turn));
    }
  }
  return input;
}

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

// A page lies across 2, 4 or 8 GiB: some of its slots, or a part of one, or one of its planes, are on the near side.
void draw_page_across(Draw& draw, StoreShape& s) {
  const std::int64_t smallest = smallest_page_stride(s.layout, s.page_size);
  const std::int64_t boundary = 2 * gibibyte << draw.below(3);
  const std::int64_t page = draw.between(boundary / (2 * gibibyte), std::min<std::int64_t>(2000, boundary / smallest - 1));
  s.page_stride = std::max(smallest, (boundary - draw.below(smallest)) / page / 16 * 16);
  s.pages = page + 1;
}

// Pages and page stride of a pool that passes 2 GiB and mostly 4 GiB. Most have few pages far apart, so that a batch of
// sixteen tokens reaches all places where an offset may wrap.
void draw_far_shape(Draw& draw, StoreShape& s) {
  const std::int64_t smallest = production_page_stride(s.layout, s.page_size);
  const std::int64_t wanted = draw.of({draw.between(3 * gibibyte, 9 * gibibyte), 9 * gibibyte});
  switch (draw.below(8)) {
    case 0:
      s.page_stride = smallest;  // the pool of one layer
      break;
    case 1:
    case 2:
      s.page_stride = std::max(smallest, 576 * draw.between(1700, 2000));  // about 1 MB: layers packed page by page
      break;
    case 3:
    case 4:
      s.page_stride = std::max(smallest, 576 * (draw.between(1 << 10, 1 << 11) << draw.below(10)));  // from 1 MB to 1 GiB
      break;
    case 5:
      draw_page_across(draw, s);
      return;
    case 6:
      s.page_stride = gibibyte + 576 * draw.below(1000);
      break;
    default:
      s.page_stride = 2 * gibibyte + 576 * draw.below(1000);  // does not fit 32 bits with a sign
      break;
  }
  s.pages = std::max<std::int64_t>(3, wanted / s.page_stride);
}

// Slots on both sides of where offsets pass 2 GiB, 4 GiB and 8 GiB, at both ends of the pool, and anywhere.
std::vector<std::int64_t> draw_far_indices(Draw& draw, const StoreShape& s, std::int64_t tokens) {
  std::set<std::int64_t> chosen;
  for (std::int64_t tries = 0; tries < 8 * tokens && static_cast<std::int64_t>(chosen.size()) < tokens; ++tries) {
    const std::int64_t passed = (2 * gibibyte << draw.below(3)) / s.page_stride + draw.between(-1, 1);
    const std::int64_t page = draw.of<std::int64_t>({passed, passed, passed, 0, s.pages - 1, draw.below(s.pages)});
    if (page >= 0 && page < s.pages) {
      chosen.insert(page * s.page_size + draw.of<std::int64_t>({0, s.page_size - 1, draw.below(s.page_size)}));
    }
  }
  std::vector<std::int64_t> indices(chosen.begin(), chosen.end());
  draw.shuffle(indices);
  return indices;
}

// The size from which a case of large shapes has a large batch: one of the 25 cases that RapidCheck grows. Of the others one
// in three has a middle batch; together these cost about as much.
constexpr int large_batch_size = 96;
constexpr std::int64_t smallest_large_batch = 65'536;  // tokens: the first that does not fit 16 bits

void draw_large_shape(Draw& draw, const Subject& subject, StoreShape& s) {
  if (subject.page_sizes.empty()) {
    s.page_size = draw.of<std::int64_t>({257, 320, 512, 1000, 1024, 4095, 4096, draw.between(257, 4096)});
    s.pages = draw.between(1, 2);
    s.page_stride = draw_page_stride(draw, s.layout, s.page_size);
  }
}

// Each token to a slot of its own.
std::vector<std::int64_t> draw_batch(Draw& draw, StoreShape& s, std::int64_t tokens) {
  s.pages = tokens / s.page_size + 1;
  std::vector<std::int64_t> indices(static_cast<std::size_t>(s.capacity()));
  std::iota(indices.begin(), indices.end(), 0);
  draw.shuffle(indices);
  indices.resize(static_cast<std::size_t>(tokens));
  return indices;
}

// Of the types that the subject takes, the narrowest: the batch is copied a few times.
std::vector<std::int64_t> draw_large_batch(Draw& draw, const Subject& subject, StoreShape& s) {
  s.input_type = *std::min_element(subject.input_types.begin(), subject.input_types.end(),
                                   [](ElementType a, ElementType b) { return element_bytes(a) < element_bytes(b); });
  return draw_batch(draw, s, draw.of<std::int64_t>({smallest_large_batch, 65'537, draw.between(65'538, 66'000)}));
}

// Tokens from 129 to 65,535, each binade as likely as the next, those above 16,384 seldom; often beside a power of two.
// Engines take another kernel, or another grid, from some number of tokens on and up to some other.
std::int64_t draw_middle_tokens(Draw& draw, std::int64_t most) {
  const std::int64_t power = std::int64_t{1} << draw.between(7, draw.one_in(8) ? 15 : 13);
  const std::int64_t tokens = draw.one_in(4) ? power + draw.between(-1, 1) : power + draw.between(1, power);
  return std::clamp<std::int64_t>(tokens, usual_batch + 1, std::min(most, smallest_large_batch - 1));
}

// A rotation may carry a rope NaN of a wider type among the codes, or the other way round.
bool rows_may_rotate(const Subject& subject) {
  return subject.dialect.nan != NanCode::unstated && subject.dialect.infinity != Infinity::unstated;
}

}  // namespace

std::int64_t largest_batch(const Subject& subject) {
  if (subject.dialect.reciprocal_ulp == 0) {
    return 66'000;
  }
  return Judgement::kept / layout_shape(subject.dialect.layout).token_bytes();
}

Case draw_case(Draw& draw, const Subject& subject, const CaseFocus& focus, int size) {
  Case c;
  StoreShape& s = c.shape;
  s.layout = subject.dialect.layout;
  s.input_type = draw.of(subject.input_types);
  s.index_type = draw.of(subject.index_types);
  s.fp8 = draw.of(subject.fp8_types);
  s.page_size = draw_page_size(draw, subject);
  s.pages = s.page_size >= 64 ? draw.between(1, 3) : draw.between(1, 12);
  s.page_stride = draw_page_stride(draw, s.layout, s.page_size);
  if (focus.far_pools) {
    draw_far_shape(draw, s);
  }
  if (focus.large_shapes) {
    draw_large_shape(draw, subject, s);
  }
  if (focus.far_pools) {
    c.indices = draw_far_indices(draw, s, std::max<std::int64_t>(1, draw_tokens(draw, focus, size)));
  } else if (focus.large_shapes && size >= large_batch_size && largest_batch(subject) >= smallest_large_batch) {
    c.indices = draw_large_batch(draw, subject, s);
  } else if (focus.large_shapes && largest_batch(subject) > usual_batch && draw.one_in(3)) {
    c.indices = draw_batch(draw, s, draw_middle_tokens(draw, largest_batch(subject)));
  } else {
    c.indices =
        draw_indices(draw, static_cast<IndexPattern>(draw.weighted(focus.indices)), subject, draw_tokens(draw, focus, size),
                     s.pages, s.page_size, focus.extreme_indices ? std::optional(s.index_type) : std::nullopt);
  }
  s.tokens = static_cast<std::int64_t>(c.indices.size());
  s.row_stride = s.tokens >= smallest_large_batch ? s.row_bytes() : draw_row_stride(draw, s);
  CaseFocus values = focus;
  values.fresh_rows = focus.fresh_rows || !rows_may_rotate(subject);
  c.input = draw_input(draw, values, subject, s);
  c.poison_seed = draw.bits();
  return c;
}

}  // namespace kvproof
