#include "kvproof/properties/judge.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>

#include "declared_error.h"
#include "findings.h"
#include "kvproof/reference/layout.h"
#include "sparse_pool_judge.h"
#include "stray_rows.h"

namespace kvproof {
namespace {

class Judge {
 public:
  Judge(const Expectation& expected, const Observation& seen)
      : expected_(expected),
        seen_(seen),
        view_(expected.view(pool_poison(seen.poison))),
        layout_(layout_shape(view_.shape.layout)) {}

  // A run that must have changed nothing.
  void untouched_pool() {
    if (seen_.sparse) {
      count(judge_unchanged_sparse_pool(*seen_.sparse, view_.poison, findings_));
      return;
    }
    guards([&] { poison(Area::pool, seen_.pool, view_.poison, 0, seen_.pool.size()); });
  }

  void pool() {
    if (seen_.sparse) {
      count(judge_sparse_pool(expected_, *seen_.sparse, view_.poison, findings_));
      return;
    }
    guards([&] {
      for (std::int64_t page = 0; page < view_.shape.pages; ++page) {
        this->page(page);
      }
    });
  }

  void far() {
    for (const FarByte& byte : seen_.far.changed) {
      const Area area = byte.offset < 0 ? Area::guard_before_pool : Area::guard_after_pool;
      findings_.put(findings_.room(1),
                    {byte.offset, nobody, 0, area, byte.expected, byte.found, byte.exact ? 0 : seen_.far.mirror});
    }
    findings_.room(static_cast<int>(std::min<std::int64_t>(
        seen_.far.changed_bytes - static_cast<std::int64_t>(seen_.far.changed.size()), std::numeric_limits<int>::max())));
  }

  void given(const GuardedBytes& bytes, const Poison& poison, std::span<const std::uint8_t> given, Area area, Area before,
             Area after) {
    this->poison(before, bytes, poison, -bytes.before, 0);
    const auto size = static_cast<std::int64_t>(given.size());
    bytes_ += size;
    if (size != 0 && std::memcmp(bytes.data(), given.data(), given.size()) != 0) {
      for (std::int64_t i = 0; i < size; ++i) {
        judge_byte(area, i, nobody, 0, given[static_cast<std::size_t>(i)], bytes.data()[i], findings_);
      }
    }
    this->poison(after, bytes, poison, size, size + bytes.after);
  }

  Judgement take(const std::vector<std::uint8_t>& input) {
    const std::int64_t total = findings_.total();
    Judgement verdict = named(
        expected_, [&](std::int64_t offset) { return before(offset); }, findings_.take(), total, input);
    verdict.bytes = bytes_;
    verdict.codes = codes_;
    return verdict;
  }

 private:
  void count(const SparseCounts& counts) {
    bytes_ += counts.bytes;
    codes_ += counts.codes;
  }

  // What a byte of the pool was before the run.
  std::uint8_t before(std::int64_t offset) const {
    return seen_.sparse ? seen_.sparse->byte_before(view_.poison, offset) : poison_byte(view_.poison, offset);
  }

  template <class Inside>
  void guards(Inside inside) {
    const std::int64_t size = seen_.pool.size();
    poison(Area::guard_before_pool, seen_.pool, view_.poison, -seen_.pool.before, 0);
    inside();
    poison(Area::guard_after_pool, seen_.pool, view_.poison, size, size + seen_.pool.after);
  }

  // The bytes [from, to) of a buffer, which nobody may have changed.
  void poison(Area area, const GuardedBytes& bytes, const Poison& poison, std::int64_t from, std::int64_t to) {
    bytes_ += to - from;
    std::int64_t word = from >> 3;
    for (; word * 8 < to; ++word) {
      const std::int64_t begin = std::max(from, word * 8);
      const std::int64_t end = std::min(to, word * 8 + 8);
      std::uint64_t found = 0;
      if (end - begin == 8) {
        found = load_word(bytes.data() + begin);
        if (found == poison_word(poison, word)) {
          continue;
        }
      } else {
        for (std::int64_t i = begin; i < end; ++i) {
          found |= static_cast<std::uint64_t>(bytes.data()[i]) << (8 * (i - word * 8));
        }
      }
      judge_poison_word(poison, area, word, from, to, found, findings_);
    }
  }

  void page(std::int64_t page) {
    const std::int64_t base = page * view_.shape.page_stride;
    for (std::int64_t slot = 0; slot < view_.shape.page_size; ++slot) {
      const std::int64_t data = base + data_offset(view_.shape.layout, slot);
      const std::int64_t scales = base + scale_offset(view_.shape.layout, slot, view_.shape.page_size);
      const std::int32_t token = head_of(view_, page, slot);
      if (token == nobody) {
        poison(Area::pool, seen_.pool, view_.poison, data, data + layout_.data_bytes);
        poison(Area::pool, seen_.pool, view_.poison, scales, scales + layout_.scale_bytes);
        continue;
      }
      codes_ += layout_.codes;
      const int written = layout_.scale_bytes - (view_.pad_written ? 0 : layout_.pad);
      if (view_.next[token] == nobody) {
        owned(data, layout_.data_bytes, view_.data_of(token));
        owned(scales, written, view_.scales_of(token));
      } else {
        bytes_ += layout_.data_bytes + written;
        const ContendedSlot contended(view_, seen_.pool.data(), page, slot);
        for (int unit = 0; unit < units_of(view_); ++unit) {
          contended.judge(expected_.duplicates, unit, findings_);
        }
      }
      poison(Area::pool, seen_.pool, view_.poison, scales + written, scales + layout_.scale_bytes);
    }
    const std::int64_t used = smallest_page_stride(view_.shape.layout, view_.shape.page_size);
    poison(Area::pool, seen_.pool, view_.poison, base + used, base + view_.shape.page_stride);
  }

  // Bytes of one plane of a slot that one token owns.
  void owned(std::int64_t offset, std::int64_t count, const std::uint8_t* image) {
    bytes_ += count;
    if (std::memcmp(seen_.pool.data() + offset, image, static_cast<std::size_t>(count)) != 0) {
      for (std::int64_t i = offset; i < offset + count; ++i) {
        judge_pool_byte(view_, i, seen_.pool.data()[i], findings_);
      }
    }
  }

  const Expectation& expected_;
  const Observation& seen_;
  ExpectationView view_;
  LayoutShape layout_;
  Findings findings_;
  std::int64_t bytes_ = 0;
  std::int64_t codes_ = 0;
};

WrongByte name(const Finding& finding, const StoreShape& shape, const ByteBefore& before) {
  WrongByte wrong;
  wrong.area = finding.area;
  wrong.offset = finding.offset;
  wrong.modulo = finding.modulo;
  wrong.expected = finding.expected;
  wrong.found = finding.found;
  wrong.wrong = Wrong::stray;
  if (finding.area == Area::pool) {
    wrong.page = finding.offset / shape.page_stride;
    wrong.place = place_in_page(shape.layout, shape.page_size, finding.offset % shape.page_stride);
    if (finding.token != nobody) {
      wrong.token = finding.token;
      wrong.contenders = finding.contenders;
      wrong.wrong = finding.found == before(finding.offset) ? Wrong::missing : Wrong::value;
    }
  }
  return wrong;
}

}  // namespace

Judgement named(const Expectation& expected, const Poison& poison, std::vector<Finding> findings, std::int64_t total,
                const std::vector<std::uint8_t>& input) {
  return named(
      expected, [&](std::int64_t offset) { return poison_byte(poison, offset); }, std::move(findings), total, input);
}

Judgement named(const Expectation& expected, const ByteBefore& before, std::vector<Finding> findings, std::int64_t total,
                const std::vector<std::uint8_t>& input) {
  const auto buffer = [](Area area) { return static_cast<std::uint32_t>(area) / 3; };
  std::sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    return std::tuple(buffer(a.area), a.offset) < std::tuple(buffer(b.area), b.offset);
  });
  Judgement verdict;
  verdict.wrong_bytes = total;
  // With more findings than are kept, nothing is excused: those that are not here may be anything.
  if (total == static_cast<std::int64_t>(findings.size()) && total <= Judgement::kept) {
    const Explained explained = take_explained(expected, input, findings);
    verdict.wrong_bytes -= explained.findings;
    verdict.explained = explained.codes;
    if (explained.example) {
      verdict.explained_example = name(*explained.example, expected.shape, before);
      verdict.explained_example->wrong = Wrong::value;
    }
  }
  if (static_cast<std::int64_t>(findings.size()) > Judgement::kept) {
    findings.resize(static_cast<std::size_t>(Judgement::kept));
  }
  verdict.wrong.reserve(findings.size());
  for (const Finding& finding : findings) {
    verdict.wrong.push_back(name(finding, expected.shape, before));
  }
  name_stray_rows(expected, input, verdict.wrong);
  return verdict;
}

Judgement judge(const Expectation& expected, const Observation& seen, const std::vector<std::uint8_t>& input,
                const std::vector<std::uint8_t>& indices) {
  Judge judge(expected, seen);
  if (seen.outcome == Outcome::refused) {
    judge.untouched_pool();
  } else {
    judge.pool();
  }
  judge.far();
  judge.given(seen.input, input_poison(seen.poison), input, Area::input, Area::guard_before_input, Area::guard_after_input);
  judge.given(seen.indices, indices_poison(seen.poison), indices, Area::indices, Area::guard_before_indices,
              Area::guard_after_indices);
  return judge.take(input);
}

std::string_view name_of(Area area) {
  static constexpr std::array<std::string_view, 9> names{"pool",    "guard before the pool",    "guard after the pool",
                                                         "input",   "guard before the input",   "guard after the input",
                                                         "indices", "guard before the indices", "guard after the indices"};
  return names.at(static_cast<std::size_t>(area));
}

std::string_view name_of(Wrong wrong) {
  static constexpr std::array<std::string_view, 3> names{"missing", "wrong", "stray"};
  return names.at(static_cast<std::size_t>(wrong));
}

}  // namespace kvproof
