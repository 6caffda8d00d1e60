#include "kernel_sweeps.h"

#include <array>
#include <functional>
#include <random>

#include "kvproof/reference/dialects.h"
#include "pool_comparison.h"

namespace kvproof {
namespace {

constexpr std::array both_fp8{Fp8::e4m3fn, Fp8::e4m3fnuz};
constexpr std::array all_types{ElementType::bf16, ElementType::fp16, ElementType::fp32};
constexpr std::uint32_t finite_amax = 0x7F80;  // patterns 0x0000 .. 0x7F7F

// Runs `trial`, made for the subject's layout once, in the subject's own dialect.
std::string run_as(const Subject& subject, Fp8 fp8, Trial* trial, Memory& memory) {
  trial->dialect = subject.dialect;
  trial->shape.fp8 = fp8;
  return difference(subject, *trial, memory);
}

// Runs one trial a layout through every subject of that layout and both fp8 types.
std::string run_through(const Subjects& subjects, Memory& memory, const std::function<Trial(Layout)>& make) {
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    Trial trial = make(layout);
    for (const Subject& subject : subjects) {
      for (const Fp8 fp8 : both_fp8) {
        if (subject.dialect.layout == layout) {
          const std::string wrong = run_as(subject, fp8, &trial, memory);
          if (!wrong.empty()) {
            return wrong;
          }
        }
      }
    }
  }
  return {};
}

Dialect of_layout(Layout layout) { return find_dialect("strict", layout)->dialect; }

// Every finite bf16 amax as the largest element of every tile position; the rest of the tile is at most that.
Trial every_amax(Layout layout) {
  Trial trial = dense_trial(of_layout(layout), Fp8::e4m3fn, ElementType::bf16, finite_amax, 64);
  const LayoutShape shape = layout_shape(layout);
  std::mt19937_64 random(1);
  for (std::uint32_t row = 0; row < finite_amax; ++row) {
    for (int tile = 0; tile < shape.row_values / shape.tile; ++tile) {
      const std::uint32_t amax = (row + static_cast<std::uint32_t>(tile) * 4663U) % finite_amax;
      const auto largest = static_cast<int>(random() % static_cast<std::uint64_t>(shape.tile));
      for (int i = 0; i < shape.tile; ++i) {
        const auto roll = static_cast<std::uint32_t>(random());
        const std::uint32_t below = i == largest ? amax : (roll & 0xFFFFFFU) % (amax + 1);
        append_element(trial.input, below | ((roll >> 16) & 0x8000U), ElementType::bf16);
      }
    }
  }
  number_indices(&trial);
  return trial;
}

// Every 16-bit pattern in a tile whose first element is `anchor`, for each anchor.
Trial every_element(Layout layout, ElementType type) {
  constexpr std::array<std::uint32_t, 16> bf16_anchors{0x0000, 0x0001, 0x1234, 0x38D1, 0x38D2, 0x3860, 0x3F80, 0x3FE0,
                                                       0x3FE1, 0x43E0, 0x43E1, 0x5A5A, 0x7F00, 0x7F7F, 0x7F80, 0x7FC0};
  constexpr std::array<std::uint32_t, 8> fp16_anchors{0x0000, 0x0001, 0x03FF, 0x3C00, 0x3F00, 0x7BFF, 0x7C00, 0x7E00};
  const LayoutShape shape = layout_shape(layout);
  const int an_anchor = (65536 + shape.codes - shape.tiles - 1) / (shape.codes - shape.tiles);  // rows
  const auto anchors = type == ElementType::bf16 ? std::vector<std::uint32_t>(bf16_anchors.begin(), bf16_anchors.end())
                                                 : std::vector<std::uint32_t>(fp16_anchors.begin(), fp16_anchors.end());
  Trial trial =
      dense_trial(of_layout(layout), Fp8::e4m3fn, type, an_anchor * static_cast<std::int64_t>(anchors.size()), 100);
  for (const std::uint32_t anchor : anchors) {
    std::uint32_t next = 0;
    for (int row = 0; row < an_anchor; ++row) {
      for (int i = 0; i < shape.row_values; ++i) {
        const bool quantised = i < shape.codes && i % shape.tile != 0;
        append_element(trial.input, quantised ? next++ & 0xFFFFU : anchor, type);
      }
    }
  }
  number_indices(&trial);
  return trial;
}

}  // namespace

std::string sweep_random_shapes(const Subjects& subjects, Memory& memory) {
  std::mt19937_64 random(2024);
  for (const Subject& subject : subjects) {
    for (const Fp8 fp8 : both_fp8) {
      for (const ElementType type : all_types) {
        for (int i = 0; i < 60; ++i) {
          const std::string wrong = difference(subject, random_trial(subject.dialect, fp8, type, random), memory);
          if (!wrong.empty()) {
            return wrong;
          }
        }
      }
    }
  }
  return {};
}

std::string sweep_every_amax(const Subjects& subjects, Memory& memory) { return run_through(subjects, memory, every_amax); }

std::string sweep_every_element(const Subjects& subjects, Memory& memory) {
  for (const ElementType type : {ElementType::bf16, ElementType::fp16}) {
    const std::string wrong = run_through(subjects, memory, [type](Layout layout) { return every_element(layout, type); });
    if (!wrong.empty()) {
      return wrong;
    }
  }
  return {};
}

// The codes stay zero. Of fp32 every upper half is tried with the lower halves around a tie.
std::string sweep_every_rope(const Subjects& subjects, Memory& memory) {
  constexpr std::array<std::uint32_t, 6> lower_halves{0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF};
  for (const Subject& subject : subjects) {
    if (subject.dialect.layout != Layout::flashmla || subject.dialect_name != "strict") {
      continue;  // rope has no dialect
    }
    for (const ElementType type : all_types) {
      const bool wide = type == ElementType::fp32;
      const std::uint32_t count = wide ? 65536 * 6 : 65536;
      Trial trial = dense_trial(subject.dialect, Fp8::e4m3fn, type, count / 64, 7);
      for (std::uint32_t value = 0; value < count; ++value) {
        if (value % 64 == 0) {
          trial.input.resize(trial.input.size() + 448 * static_cast<std::size_t>(element_bytes(type)), 0);
        }
        append_element(trial.input, wide ? ((value / 6) << 16) | lower_halves[value % 6] : value, type);
      }
      number_indices(&trial);
      const std::string wrong = difference(subject, trial, memory);
      if (!wrong.empty()) {
        return wrong;
      }
    }
  }
  return {};
}

std::string sweep_custom_dialects(const Subjects& subjects, Memory& memory) {
  std::mt19937_64 random(77);
  for (const Subject& original : subjects) {
    if (original.dialect_name != "strict") {
      continue;
    }
    for (int i = 0; i < 3000; ++i) {
      Dialect d = original.dialect;
      const bool flashmla = d.layout == Layout::flashmla;
      constexpr std::array<F32, 6> floors{0x38D1B717U, 0x322BCC77U, 0x00000001U, 0x3F800000U, 0x00800000U, 0x7F7FFFFFU};
      d.floor = static_cast<Floor>(random() % 3);
      d.floor_value = floors[random() % floors.size()];
      d.ratio = static_cast<Ratio>(random() % 2);
      d.scale = flashmla ? Scale::ue8m0 : static_cast<Scale>(1 + random() % 2);
      d.quantise = static_cast<Quantise>(d.scale == Scale::fp32 ? 1 + random() % 3 : random() % 4);
      d.fnuz_limit = random() % 2 == 0 ? 240 : 224;
      d.pad = flashmla && random() % 2 == 0 ? Pad::zero : Pad::keep;
      d.invalid = random() % 2 == 0 ? InvalidIndex::non_positive : InvalidIndex::outside;
      d.nan = static_cast<NanCode>(random() % 5);
      d.infinity = static_cast<Infinity>(random() % 4);
      if (const auto contradiction = dialect_contradiction(d)) {
        return "the test's own dialect: " + *contradiction;
      }
      Subject subject = original;
      subject.dialect_name = "custom";
      subject.state = &d;  // a built-in kernel's state is its dialect
      const std::string wrong =
          difference(subject, random_trial(d, both_fp8[random() % 2], all_types[random() % 3], random), memory);
      if (!wrong.empty()) {
        return wrong;
      }
    }
  }
  return {};
}

}  // namespace kvproof
