#include "declared_error.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "declared_row.h"

namespace kvproof {
namespace {

class Explainer {
 public:
  Explainer(const Expectation& expected, const std::vector<std::uint8_t>& input)
      : expected_(expected), input_(input), layout_(layout_shape(expected.shape.layout)) {}

  Explained take(std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      if (finding.area == Area::pool && finding.token != nobody) {
        groups_[group_of(finding)].push_back(finding);
      }
    }
    for (const auto& [key, group] : groups_) {
      if (explain(group)) {
        explained_.findings += static_cast<std::int64_t>(group.size());
        taken_.insert(key);
      }
    }
    std::erase_if(findings, [&](const Finding& finding) {
      return finding.area == Area::pool && finding.token != nobody && taken_.contains(group_of(finding));
    });
    return explained_;
  }

 private:
  // Findings that must be explained by one token: of a contended slot a tile, or all of it where rows are whole.
  using Group = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  PagePlace place_of(const Finding& finding) const {
    return place_in_page(expected_.shape.layout, expected_.shape.page_size, finding.offset % expected_.shape.page_stride);
  }

  bool is_whole(const Finding& finding) const { return finding.contenders > 1 && expected_.duplicates != Duplicates::byte; }

  Group group_of(const Finding& finding) const {
    const PagePlace place = place_of(finding);
    if (!is_whole(finding) || (expected_.duplicates != Duplicates::row && place.region != Region::code)) {
      return {finding.offset, -1, -1};
    }
    return {finding.offset / expected_.shape.page_stride, place.slot,
            expected_.duplicates == Duplicates::row ? layout_.tiles : place.tile};
  }

  std::vector<std::int32_t> contenders(const Finding& finding) const {
    if (finding.contenders <= 1) {
      return {finding.token};
    }
    const std::int64_t page = finding.offset / expected_.shape.page_stride;
    std::vector<std::int32_t> all;
    std::int32_t token = expected_.head(page * expected_.shape.page_size + place_of(finding).slot);
    for (; token != nobody; token = expected_.next[static_cast<std::size_t>(token)]) {
      all.push_back(token);
    }
    return all;
  }

  DeclaredRow row_of(std::int32_t token) const {
    return {input_.data() + token * expected_.shape.row_stride, expected_.shape.input_type, expected_.dialect,
            expected_.shape.fp8};
  }

  bool explain(const std::vector<Finding>& group) {
    if (std::any_of(group.begin(), group.end(), [](const Finding& finding) { return finding.untouched; })) {
      return false;  // no error of arithmetic: nothing was written
    }
    const PagePlace first = place_of(group.front());
    if (!is_whole(group.front())) {
      const int i = first.tile * layout_.tile + first.element;
      for (const std::int32_t token : contenders(group.front())) {
        if (first.region == Region::code && row_of(token).explains(i, group.front().found)) {
          explained_.codes += 1;
          example(group.front(), token, group.front().expected);
          return true;
        }
      }
      return false;
    }
    if (expected_.duplicates != Duplicates::row && first.region != Region::code) {
      return false;
    }
    // What stands there: the image of the token that the judge compared with, but for the findings.
    RowImage found = row_of(group.front().token).image;
    for (const Finding& finding : group) {
      const PagePlace place = place_of(finding);
      switch (place.region) {
        case Region::code:
          found.data[place.tile * layout_.tile + place.element] = finding.found;
          break;
        case Region::scale:
          found.scales[place.tile * layout_.bytes_per_scale + place.byte] = finding.found;
          break;
        case Region::rope:
        case Region::pad:
        case Region::tail:
          return false;  // the nearest row differs in bytes without an error
      }
    }
    const bool row = expected_.duplicates == Duplicates::row;
    for (const std::int32_t token : contenders(group.front())) {
      if (explain(found, row ? 0 : first.tile, row ? layout_.tiles : first.tile + 1, row, token, group.front())) {
        return true;
      }
    }
    return false;
  }

  // Whether tiles [from, to) of `found`, and with `whole` everything else of it, are what `token` may have left.
  bool explain(const RowImage& found, int from, int to, bool whole, std::int32_t token, const Finding& finding) {
    const DeclaredRow row = row_of(token);
    if (whole &&
        (!std::equal(found.scales, found.scales + layout_.scale_bytes, row.image.scales) ||
         !std::equal(found.data + layout_.codes, found.data + layout_.data_bytes, row.image.data + layout_.codes))) {
      return false;
    }
    std::int64_t codes = 0;
    Finding last = finding;
    const std::int64_t slot = finding.offset / expected_.shape.page_stride * expected_.shape.page_stride +
                              data_offset(expected_.shape.layout, place_of(finding).slot);
    for (int i = from * layout_.tile; i < to * layout_.tile; ++i) {
      if (found.data[i] != row.image.data[i]) {
        if (!row.explains(i, found.data[i])) {
          return false;
        }
        ++codes;
        last.offset = slot + i;
        last.found = found.data[i];
      }
    }
    explained_.codes += codes;
    const PagePlace place = place_of(last);
    example(last, token, row.image.data[place.tile * layout_.tile + place.element]);
    return true;
  }

  void example(Finding finding, std::int32_t token, std::uint8_t expected) {
    if (!explained_.example) {
      finding.token = token;
      finding.expected = expected;
      explained_.example = finding;
    }
  }

  const Expectation& expected_;
  const std::vector<std::uint8_t>& input_;
  LayoutShape layout_;
  std::map<Group, std::vector<Finding>> groups_;
  std::set<Group> taken_;
  Explained explained_;
};

}  // namespace

Explained take_explained(const Expectation& expected, const std::vector<std::uint8_t>& input,
                         std::vector<Finding>& findings) {
  if (expected.dialect.reciprocal_ulp == 0 || findings.empty()) {
    return {};
  }
  return Explainer(expected, input).take(findings);
}

}  // namespace kvproof
