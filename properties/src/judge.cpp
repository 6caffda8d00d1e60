#include "kvproof/properties/judge.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "kvproof/reference/layout.h"

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
    const std::int64_t size = seen_.pool.size();
    run_of_poison(Area::guard_before_pool, seen_.pool, view_.poison, -seen_.pool.guard, 0);
    run_of_poison(Area::pool, seen_.pool, view_.poison, 0, size);
    run_of_poison(Area::guard_after_pool, seen_.pool, view_.poison, size, size + seen_.pool.guard);
  }

  void pool() {
    const std::int64_t size = seen_.pool.size();
    run_of_poison(Area::guard_before_pool, seen_.pool, view_.poison, -seen_.pool.guard, 0);
    for (std::int64_t page = 0; page < view_.shape.pages; ++page) {
      this->page(page);
    }
    run_of_poison(Area::guard_after_pool, seen_.pool, view_.poison, size, size + seen_.pool.guard);
  }

  void given(const GuardedBytes& bytes, const Poison& poison, std::span<const std::uint8_t> given, Area area, Area before,
             Area after) {
    run_of_poison(before, bytes, poison, -bytes.guard, 0);
    const auto size = static_cast<std::int64_t>(given.size());
    verdict_.bytes += size;
    if (size != 0 && std::memcmp(bytes.data(), given.data(), given.size()) != 0) {
      for (std::int64_t i = 0; i < size; ++i) {
        compare(area, i, given[static_cast<std::size_t>(i)], bytes.data()[i]);
      }
    }
    run_of_poison(after, bytes, poison, size, size + bytes.guard);
  }

  Judgement take() { return std::move(verdict_); }

 private:
  // The bytes [from, to) of a buffer, which nobody may have changed.
  void run_of_poison(Area area, const GuardedBytes& bytes, const Poison& poison, std::int64_t from, std::int64_t to) {
    verdict_.bytes += to - from;
    std::int64_t i = from;
    while (i < to) {
      if ((i & 7) == 0 && i + 8 <= to) {
        std::uint64_t found = 0;
        std::memcpy(&found, bytes.data() + i, sizeof found);
        if (found == poison_word(poison, i >> 3)) {
          i += 8;
          continue;
        }
      }
      const std::int64_t stop = std::min(to, (i | 7) + 1);
      for (; i < stop; ++i) {
        compare(area, i, poison_byte(poison, i), bytes.data()[i]);
      }
    }
  }

  // A byte that no token owns.
  void compare(Area area, std::int64_t offset, std::uint8_t expected, std::uint8_t found) {
    if (expected == found) {
      return;
    }
    WrongByte wrong;
    wrong.area = area;
    wrong.wrong = Wrong::stray;
    wrong.offset = offset;
    wrong.expected = expected;
    wrong.found = found;
    if (area == Area::pool) {
      wrong.page = offset / view_.shape.page_stride;
      wrong.place = place_in_page(view_.shape.layout, view_.shape.page_size, offset % view_.shape.page_stride);
    }
    report(wrong);
  }

  void report(const WrongByte& wrong) {
    if (verdict_.wrong_bytes < Judgement::kept) {
      verdict_.wrong.push_back(wrong);
    }
    ++verdict_.wrong_bytes;
  }

  void page(std::int64_t page) {
    const std::int64_t base = page * view_.shape.page_stride;
    for (std::int64_t slot = 0; slot < view_.shape.page_size; ++slot) {
      const std::int64_t data = base + data_offset(view_.shape.layout, slot);
      const std::int64_t scales = base + scale_offset(view_.shape.layout, slot, view_.shape.page_size);
      const std::int32_t token = view_.first[page * view_.shape.page_size + slot];
      if (token == nobody) {
        run_of_poison(Area::pool, seen_.pool, view_.poison, data, data + layout_.data_bytes);
        run_of_poison(Area::pool, seen_.pool, view_.poison, scales, scales + layout_.scale_bytes);
        continue;
      }
      verdict_.codes += layout_.codes;
      if (view_.next[token] == nobody) {
        owned(page, token, data, layout_.data_bytes);
        owned(page, token, scales, written_scale_bytes());
      } else {
        contended(page, slot, token);
      }
      run_of_poison(Area::pool, seen_.pool, view_.poison, scales + written_scale_bytes(), scales + layout_.scale_bytes);
    }
    const std::int64_t used = smallest_page_stride(view_.shape.layout, view_.shape.page_size);
    run_of_poison(Area::pool, seen_.pool, view_.poison, base + used, base + view_.shape.page_stride);
  }

  int written_scale_bytes() const { return layout_.scale_bytes - (view_.pad_written ? 0 : layout_.pad); }

  const std::uint8_t* image_at(std::int32_t token, std::int64_t page, std::int64_t offset) const {
    const PagePlace place =
        place_in_page(view_.shape.layout, view_.shape.page_size, offset - page * view_.shape.page_stride);
    const RowImage& image = view_.rows[token];
    switch (place.region) {
      case Region::code:
        return image.data + place.tile * layout_.tile + place.element;
      case Region::rope:
        return image.data + layout_.codes + 2 * place.element + place.byte;
      case Region::scale:
        return image.scales + place.tile * layout_.bytes_per_scale + place.byte;
      case Region::pad:
      case Region::tail:
        break;
    }
    return image.scales + layout_.scale_bytes - layout_.pad;
  }

  bool equals(std::int32_t token, std::int64_t page, std::int64_t offset, std::int64_t count) const {
    return std::memcmp(seen_.pool.data() + offset, image_at(token, page, offset), static_cast<std::size_t>(count)) == 0;
  }

  // `count` bytes of one plane of a slot that must be those of `token`.
  void owned(std::int64_t page, std::int32_t token, std::int64_t offset, std::int64_t count, std::int32_t contenders = 1) {
    verdict_.bytes += count;
    if (equals(token, page, offset, count)) {
      return;
    }
    const std::uint8_t* image = image_at(token, page, offset);
    for (std::int64_t i = 0; i < count; ++i) {
      if (seen_.pool.data()[offset + i] != image[i]) {
        report_owned(page, token, offset + i, image[i], contenders);
      }
    }
  }

  void report_owned(std::int64_t page, std::int32_t token, std::int64_t offset, std::uint8_t expected, std::int32_t contenders) {
    WrongByte wrong;
    wrong.found = seen_.pool.data()[offset];
    wrong.wrong = wrong.found == poison_byte(view_.poison, offset) ? Wrong::missing : Wrong::value;
    wrong.offset = offset;
    wrong.page = page;
    wrong.place = place_in_page(view_.shape.layout, view_.shape.page_size, offset - page * view_.shape.page_stride);
    wrong.token = token;
    wrong.contenders = contenders;
    wrong.expected = expected;
    report(wrong);
  }

  struct Unit {
    std::int64_t offset;
    std::int64_t count;
  };

  // The units of a slot: parts that a kernel may write independently of each other.
  std::vector<Unit> units(std::int64_t page, std::int64_t slot) const {
    const std::int64_t base = page * view_.shape.page_stride;
    const std::int64_t data = base + data_offset(view_.shape.layout, slot);
    const std::int64_t scales = base + scale_offset(view_.shape.layout, slot, view_.shape.page_size);
    std::vector<Unit> all;
    for (int tile = 0; tile < layout_.tiles; ++tile) {
      all.push_back({data + tile * layout_.tile, layout_.tile});
    }
    if (layout_.rope != 0) {
      all.push_back({data + layout_.codes, 2 * layout_.rope});
    }
    for (int tile = 0; tile < layout_.tiles; ++tile) {
      all.push_back({scales + tile * layout_.bytes_per_scale, layout_.bytes_per_scale});
    }
    if (view_.pad_written && layout_.pad != 0) {
      all.push_back({scales + layout_.scale_bytes - layout_.pad, layout_.pad});
    }
    return all;
  }

  std::int64_t differing(std::int32_t token, std::int64_t page, const Unit& unit) const {
    const std::uint8_t* image = image_at(token, page, unit.offset);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < unit.count; ++i) {
      count += seen_.pool.data()[unit.offset + i] != image[i] ? 1 : 0;
    }
    return count;
  }

  // A unit whose every byte is that of some contender; what is not is told against `nearest`.
  void each_byte_of_some(std::int64_t page, const std::vector<std::int32_t>& contenders, std::int32_t nearest, const Unit& unit) {
    verdict_.bytes += unit.count;
    for (std::int64_t i = 0; i < unit.count; ++i) {
      const std::uint8_t found = seen_.pool.data()[unit.offset + i];
      const bool known = std::any_of(contenders.begin(), contenders.end(), [&](std::int32_t token) {
        return image_at(token, page, unit.offset)[i] == found;
      });
      if (!known) {
        report_owned(page, nearest, unit.offset + i, image_at(nearest, page, unit.offset)[i],
                     static_cast<std::int32_t>(contenders.size()));
      }
    }
  }

  // A slot that several tokens name: each unit is that of some contender, with Duplicates::row all are of the same one,
  // with Duplicates::byte each byte is that of any.   // What is wrong is told against the contender that comes nearest.
  void contended(std::int64_t page, std::int64_t slot, std::int32_t head) {
    std::vector<std::int32_t> contenders;
    for (std::int32_t token = head; token != nobody; token = view_.next[token]) {
      contenders.push_back(token);
    }
    const std::vector<Unit> all = units(page, slot);
    const auto nearest = [&](std::span<const Unit> of) {
      return *std::min_element(contenders.begin(), contenders.end(), [&](std::int32_t a, std::int32_t b) {
        std::int64_t wrong_a = 0;
        std::int64_t wrong_b = 0;
        for (const Unit& unit : of) {
          wrong_a += differing(a, page, unit);
          wrong_b += differing(b, page, unit);
        }
        return wrong_a < wrong_b;
      });
    };
    const bool whole_row = expected_.duplicates == Duplicates::row;
    const std::int32_t of_row = whole_row ? nearest(all) : nobody;
    for (const Unit& unit : all) {
      const std::int32_t token = whole_row ? of_row : nearest(std::span(&unit, 1));
      if (expected_.duplicates == Duplicates::byte) {
        each_byte_of_some(page, contenders, token, unit);
        continue;
      }
      owned(page, token, unit.offset, unit.count, static_cast<std::int32_t>(contenders.size()));
    }
  }

  const Expectation& expected_;
  const Observation& seen_;
  ExpectationView view_;
  LayoutShape layout_;
  Judgement verdict_;
};

}  // namespace

Judgement judge(const Expectation& expected, const Observation& seen, const std::vector<std::uint8_t>& input,
                const std::vector<std::uint8_t>& indices) {
  Judge judge(expected, seen);
  if (seen.outcome == Outcome::refused) {
    judge.untouched_pool();
  } else {
    judge.pool();
  }
  judge.given(seen.input, input_poison(seen.poison), input, Area::input, Area::guard_before_input, Area::guard_after_input);
  judge.given(seen.indices, indices_poison(seen.poison), indices, Area::indices, Area::guard_before_indices,
              Area::guard_after_indices);
  return judge.take();
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
