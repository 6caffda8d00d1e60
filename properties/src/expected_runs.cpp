#include <fmt/format.h>

#include <algorithm>

#include "kvproof/device/error.h"
#include "kvproof/properties/case_file.h"
#include "kvproof/properties/expectation.h"
#include "kvproof/reference/layout.h"

namespace kvproof {
namespace {

// Collects written units and fills the gaps between them.
class Runs {
 public:
  explicit Runs(std::int64_t pool_bytes) : pool_bytes_(pool_bytes) {}

  void add(ExpectedRun run) { written_.push_back(std::move(run)); }

  std::vector<ExpectedRun> covering() {
    std::sort(written_.begin(), written_.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    std::vector<ExpectedRun> all;
    std::int64_t at = 0;
    for (ExpectedRun& run : written_) {
      gap(all, at, run.offset);
      at = run.offset + run.size();
      all.push_back(std::move(run));
    }
    gap(all, at, pool_bytes_);
    return all;
  }

 private:
  static void gap(std::vector<ExpectedRun>& all, std::int64_t from, std::int64_t to) {
    if (from < to) {
      all.push_back({from, "untouched", {}, to - from});
    }
  }

  std::int64_t pool_bytes_;
  std::vector<ExpectedRun> written_;
};

}  // namespace

std::vector<ExpectedRun> expected_runs(const Case& c, const Dialect& dialect) {
  const Expectation e = expect(c, dialect, Duplicates::unit, Rows::encoded, Slots::owned);
  const StoreShape& s = c.shape;
  const LayoutShape layout = layout_shape(s.layout);
  Runs runs(s.pool_bytes());
  e.each_owned([&](std::int64_t owned, std::int32_t head) {
    const std::int64_t page = owned / s.page_size;
    const std::int64_t slot = owned % s.page_size;
    std::vector<std::int32_t> contenders;
    for (std::int32_t token = head; token != nobody; token = e.next[static_cast<std::size_t>(token)]) {
      contenders.push_back(token);
    }
    std::reverse(contenders.begin(), contenders.end());  // token order
    const auto unit = [&](std::int64_t within, std::string what, int size, auto bytes_of) {
      ExpectedRun run{page * s.page_stride + within, std::move(what), {}, 0};
      for (const std::int32_t token : contenders) {
        const std::uint8_t* bytes = bytes_of(e.rows[static_cast<std::size_t>(token)]);
        std::vector<std::uint8_t> copy(bytes, bytes + size);
        if (std::find(run.any_of.begin(), run.any_of.end(), copy) == run.any_of.end()) {
          run.any_of.push_back(std::move(copy));
        }
      }
      runs.add(std::move(run));
    };
    const std::int64_t data = data_offset(s.layout, slot);
    const std::int64_t scales = scale_offset(s.layout, slot, s.page_size);
    const std::string where = fmt::format("page {} slot {}", page, slot);
    for (int tile = 0; tile < layout.tiles; ++tile) {
      unit(data + tile * layout.tile, fmt::format("codes of {} tile {}", where, tile), layout.tile,
           [&](const RowImage& image) { return image.data + tile * layout.tile; });
      unit(scales + tile * layout.bytes_per_scale, fmt::format("scale of {} tile {}", where, tile), layout.bytes_per_scale,
           [&](const RowImage& image) { return image.scales + tile * layout.bytes_per_scale; });
    }
    if (layout.rope != 0) {
      unit(data + layout.codes, fmt::format("rope of {}", where), 2 * layout.rope,
           [&](const RowImage& image) { return image.data + layout.codes; });
    }
    if (layout.pad != 0 && dialect.pad == Pad::zero) {
      unit(scales + layout.scale_bytes - layout.pad, fmt::format("pad of {}", where), layout.pad,
           [&](const RowImage& image) { return image.scales + layout.scale_bytes - layout.pad; });
    }
  });
  return runs.covering();
}

void confirm_with_model(const FiledCase& filed) {
  const std::vector<ExpectedRun> model = expected_runs(filed.run, filed.dialect);
  for (std::size_t i = 0; i < std::max(model.size(), filed.expected.size()); ++i) {
    if (i >= model.size() || i >= filed.expected.size()) {
      throw BadInput(
          fmt::format("case {}: {} expected runs, the model has {}", filed.id, filed.expected.size(), model.size()));
    }
    const ExpectedRun& mine = model[i];
    const ExpectedRun& theirs = filed.expected[i];
    if (mine.offset != theirs.offset || mine.any_of != theirs.any_of || mine.poison_bytes != theirs.poison_bytes) {
      throw BadInput(fmt::format("case {}: the expected run at offset {} ({}) is not what the model says ({} at offset {})",
                                 filed.id, theirs.offset, theirs.what, mine.what, mine.offset));
    }
  }
}

}  // namespace kvproof
