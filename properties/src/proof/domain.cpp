#include <algorithm>
#include <cstring>
#include <set>

#include "fill.h"
#include "kvproof/properties/proof_domain.h"
#include "kvproof/reference/f32_multiply.h"
#include "kvproof/reference/scale.h"

namespace kvproof {
namespace {

constexpr std::int64_t ulp_around = 64;

bool power_of_two_scales(const Dialect& dialect) {
  return dialect.scale != Scale::fp32 && dialect.quantise != Quantise::multiply_limit_over_amax;
}

// The patterns within 64 ulp of `middle` that are finite magnitudes.
void add_around(std::set<std::uint32_t>& all, std::int64_t middle) {
  for (std::int64_t at = middle - ulp_around; at <= middle + ulp_around; ++at) {
    if (at >= 0 && at < std::int64_t{f32_infinity}) {
      all.insert(static_cast<std::uint32_t>(at));
    }
  }
}

std::uint32_t limit_fraction(const Dialect& dialect, Fp8 fp8) { return dialect_limit_f32(dialect, fp8) & 0x007FFFFFU; }

}  // namespace

ProofDomain::ProofDomain(Domain domain, const Dialect& dialect, ElementType input, Fp8 fp8)
    : domain_(domain), input_(input), layout_(dialect.layout) {
  const LayoutShape shape = layout_shape(layout_);
  switch (domain) {
    case Domain::scales:
      list_amaxes(dialect, fp8);
      rows_ = amax_count_ * 2 * shape.tile;
      break;
    case Domain::codes:
      list_groups(dialect, fp8, power_of_two_scales(dialect));
      break;
    case Domain::pairs:
      if (power_of_two_scales(dialect) && input != ElementType::fp32) {
        list_groups(dialect, fp8, false);
      }
      break;
    case Domain::rope:
      rope_nan_ = input == ElementType::bf16 || dialect.nan != NanCode::unstated;
      rows_ = shape.rope == 0 ? 0 : rope_patterns(input);
      break;
    case Domain::non_finite: {
      list_specials(dialect);
      const auto specials = static_cast<std::int64_t>(specials_.size());
      rows_ = specials * (plain_companies + specials) * shape.tile;
      break;
    }
    case Domain::positions:
      rows_ = std::int64_t{position_samples} * shape.tile * (shape.tile - 1);
      break;
  }
}

void ProofDomain::list_amaxes(const Dialect& dialect, Fp8 fp8) {
  if (input_ != ElementType::fp32) {
    amax_count_ = patterns_of(input_).infinity;
    return;
  }
  std::set<std::uint32_t> all;
  add_around(all, 0);
  for (std::int64_t field = 1; field <= 255; ++field) {
    add_around(all, field << 23);
    add_around(all, (field << 23) | limit_fraction(dialect, fp8));
  }
  if (dialect.floor == Floor::amax) {
    add_around(all, dialect.floor_value);
  } else if (dialect.floor == Floor::ratio) {
    add_around(all, f32_multiply(dialect.floor_value, dialect_limit_f32(dialect, fp8)));
  }
  amaxes_.assign(all.begin(), all.end());
  amax_count_ = static_cast<std::int64_t>(amaxes_.size());
}

void ProofDomain::list_groups(const Dialect& dialect, Fp8 fp8, bool one_a_scale) {
  const std::uint32_t infinity = patterns_of(input_).infinity;
  const LayoutShape shape = layout_shape(layout_);
  const std::int64_t a_tile = shape.tile - 1;
  std::int64_t tile = 0;
  std::int64_t pair = 0;
  const auto add = [&](std::uint32_t amax) {
    const std::int64_t pairs = 2 * (std::int64_t{amax} + 1);
    groups_.push_back({tile, pair, pairs, amax});
    tile += (pairs + a_tile - 1) / a_tile;
    pair += pairs;
  };
  const auto stored = [&](std::uint32_t amax) { return tile_scale(element_to_f32(amax, input_), dialect, fp8).stored; };
  for (std::uint32_t amax = input_ == ElementType::fp32 ? infinity - 1 : 0; amax < infinity; ++amax) {
    if (!one_a_scale || amax + 1 == infinity || stored(amax) != stored(amax + 1)) {
      add(amax);
    }
  }
  rows_ = (tile + shape.tiles - 1) / shape.tiles;
}

// NaN that are quiet and signalling, of the smallest and the largest payload, and the infinities, of both signs.
void ProofDomain::list_specials(const Dialect& dialect) {
  const Patterns p = patterns_of(input_);
  const bool nan_stated = dialect.nan != NanCode::unstated;
  // Beside an infinity that is kept as one, zeros give a NaN.
  const bool infinity_stated =
      dialect.infinity == Infinity::as_largest_bf16 || (dialect.infinity != Infinity::unstated && nan_stated);
  std::vector<std::uint32_t> magnitudes;
  if (infinity_stated) {
    magnitudes.push_back(p.infinity);
  }
  if (nan_stated) {
    for (const std::uint32_t payload : {p.binade / 2, 1U, p.binade / 2 - 1, p.binade - 1}) {
      magnitudes.push_back(p.infinity | payload);
    }
  }
  for (const std::uint32_t magnitude : magnitudes) {
    specials_.push_back(magnitude);
    specials_.push_back(magnitude | p.sign);
  }
}

std::int64_t ProofDomain::code_pairs_before(std::int64_t tile) const {
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), tile,
                                      [](std::int64_t wanted, const CodeGroup& group) { return wanted < group.first_tile; });
  const CodeGroup& group = *(after - 1);
  const std::int64_t a_tile = layout_shape(layout_).tile - 1;
  return group.first_pair + std::min(group.pairs, (tile - group.first_tile) * a_tile);
}

// Of the rows [0, row), the rope values that do not count. Each place meets each pattern once, in order, from its own start.
std::int64_t ProofDomain::rope_nan_values_before(std::int64_t row) const {
  if (rope_nan_) {
    return 0;
  }
  const DomainView all = view();
  std::int64_t left_out = 0;
  for (std::int64_t at = 0; at < row; ++at) {
    for (int i = 0; i < layout_shape(layout_).rope; ++i) {
      left_out += rope_element(all, at, i).counts ? 0 : 1;
    }
  }
  return left_out;
}

std::int64_t ProofDomain::pairs(std::int64_t first, std::int64_t last) const {
  const LayoutShape shape = layout_shape(layout_);
  switch (domain_) {
    case Domain::codes:
    case Domain::pairs:
      return code_pairs_before(last * shape.tiles) - code_pairs_before(first * shape.tiles);
    case Domain::rope:
      return (last - first) * shape.rope - (rope_nan_values_before(last) - rope_nan_values_before(first));
    case Domain::scales:
    case Domain::non_finite:
    case Domain::positions:
      break;
  }
  return (last - first) * shape.tiles;
}

DomainView ProofDomain::view() const {
  DomainView view;
  view.domain = domain_;
  view.type = input_;
  view.layout = layout_;
  view.rows = rows_;
  view.groups = groups_.data();
  view.group_count = static_cast<std::int64_t>(groups_.size());
  view.amaxes = amaxes_.empty() ? nullptr : amaxes_.data();
  view.amax_count = amax_count_;
  std::copy(specials_.begin(), specials_.end(), view.specials);
  view.special_count = static_cast<int>(specials_.size());
  view.rope_nan = rope_nan_;
  return view;
}

std::int64_t ProofDomain::row_bytes() const {
  return std::int64_t{layout_shape(layout_).row_values} * element_bytes(input_);
}

void ProofDomain::make_row(std::int64_t row, std::uint8_t* to) const {
  std::int64_t group = enumerates(domain_) ? group_of(view(), row * layout_shape(layout_).tiles) : 0;
  fill_row(view(), row, group, to);
}

}  // namespace kvproof
