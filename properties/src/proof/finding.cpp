#include "finding.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "../declared_row.h"
#include "call.h"
#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

std::string pattern(std::uint32_t bits, ElementType type) {
  const float value = std::bit_cast<float>(element_to_f32(bits, type));
  return type == ElementType::fp32 ? fmt::format("0x{:08x} ({})", bits, value) : fmt::format("0x{:04x} ({})", bits, value);
}

// What stood where it must not, told apart from what was there before the kernel ran.
std::string found_or_left(std::uint8_t found, std::uint8_t expected) {
  return found == static_cast<std::uint8_t>(~expected) ? fmt::format("0x{:02x} as before the store", found)
                                                       : fmt::format("0x{:02x}", found);
}

std::vector<std::uint8_t> bytes_of(const ProofDomain& domain, std::int64_t row) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(domain.row_bytes()));
  domain.make_row(row, bytes.data());
  return bytes;
}

class Row {
 public:
  Row(const Subject& subject, const ProofTask& task, std::int64_t row, const RowImage& found)
      : subject_(subject),
        task_(task),
        row_(row),
        layout_(layout_shape(subject.dialect.layout)),
        found_(found),
        bytes_(bytes_of({task.domain, subject.dialect, task.input, task.fp8}, row)),
        declared_(bytes_.data(), task.input, subject.dialect, task.fp8),
        expected_(declared_.image) {}

  std::string in_words() const { return fmt::format("{}; input {}, {}", wrong(), name_of(task_.input), name_of(task_.fp8)); }

  std::string explained() const {
    for (int i = 0; i < layout_.codes; ++i) {
      if (found_.data[i] != expected_.data[i] && declared_.explains(i, found_.data[i])) {
        return code(i);
      }
    }
    return {};
  }

 private:
  std::uint32_t element(int i) const { return element_bits(bytes_.data(), task_.input, i); }

  // The element of the largest magnitude; NaN counts as the largest, as it is what matters there.
  int largest(int tile) const {
    const std::uint32_t magnitude = ~patterns_of(task_.input).sign;
    int at = tile * layout_.tile;
    for (int i = at; i < (tile + 1) * layout_.tile; ++i) {
      at = (element(i) & magnitude) > (element(at) & magnitude) ? i : at;
    }
    return at;
  }

  std::string amax(int tile) const {
    return "amax " + pattern(element(largest(tile)) & ~patterns_of(task_.input).sign, task_.input);
  }

  std::string scale(int tile) const {
    std::uint32_t found = 0;
    std::uint32_t expected = 0;
    for (int byte = layout_.bytes_per_scale - 1; byte >= 0; --byte) {
      found = found << 8 | found_.scales[tile * layout_.bytes_per_scale + byte];
      expected = expected << 8 | expected_.scales[tile * layout_.bytes_per_scale + byte];
    }
    const int at = largest(tile);
    return fmt::format("{} from {} at element {}: scale 0x{:0{}x}, expected 0x{:0{}x}, at tile {}", amax(tile),
                       pattern(element(at), task_.input), at - tile * layout_.tile, found, 2 * layout_.bytes_per_scale,
                       expected, 2 * layout_.bytes_per_scale, tile);
  }

  std::string code(int i) const {
    const int tile = i / layout_.tile;
    return fmt::format("{}, x {}: code {}, expected 0x{:02x}, at tile {} element {}", amax(tile),
                       pattern(element(i), task_.input), found_or_left(found_.data[i], expected_.data[i]), expected_.data[i],
                       tile, i % layout_.tile);
  }

  std::string wrong() const {
    for (int i = 0; i < layout_.tiles * layout_.bytes_per_scale; ++i) {
      if (found_.scales[i] != expected_.scales[i]) {
        return scale(i / layout_.bytes_per_scale);
      }
    }
    for (int i = 0; i < layout_.codes; ++i) {
      if (found_.data[i] != expected_.data[i] && !declared_.explains(i, found_.data[i])) {
        return code(i);
      }
    }
    for (int i = 0; i < layout_.rope; ++i) {
      const int at = layout_.codes + 2 * i;
      if (found_.data[at] != expected_.data[at] || found_.data[at + 1] != expected_.data[at + 1]) {
        return fmt::format("rope value {} at place {}: 0x{:02x}{:02x}, expected 0x{:02x}{:02x}",
                           pattern(element(layout_.codes + i), task_.input), i, found_.data[at + 1], found_.data[at],
                           expected_.data[at + 1], expected_.data[at]);
      }
    }
    const int pad = layout_.scale_bytes - 1;
    return fmt::format("pad byte 0x{:02x}, expected 0x{:02x}", found_.scales[pad], pad_after(row_, subject_.dialect.pad));
  }

  const Subject& subject_;
  const ProofTask& task_;
  std::int64_t row_;
  LayoutShape layout_;
  const RowImage& found_;
  std::vector<std::uint8_t> bytes_;
  DeclaredRow declared_;
  const RowImage& expected_;
};

}  // namespace

std::string name_wrong_row(const Subject& subject, const ProofTask& task, std::int64_t row, const RowImage& found) {
  return Row(subject, task, row, found).in_words();
}

std::string name_explained_code(const Subject& subject, const ProofTask& task, std::int64_t row, const RowImage& found) {
  return Row(subject, task, row, found).explained();
}

std::string name_values(const Case& c) {
  constexpr int few = 4;
  const LayoutShape layout = layout_shape(c.shape.layout);
  std::string words;
  int values = 0;
  for (int i = 0; i < layout.row_values; ++i) {
    const std::uint32_t bits = element_bits(c.input.data(), c.shape.input_type, i);
    if (bits == 0) {
      continue;
    }
    if (++values > few) {
      return {};
    }
    words += fmt::format("{}{} at {}", values == 1 ? "" : ", ", pattern(bits, c.shape.input_type),
                         i < layout.codes ? fmt::format("tile {} element {}", i / layout.tile, i % layout.tile)
                                          : fmt::format("rope place {}", i - layout.codes));
  }
  return values == 0 ? "all values are zero" : words + ", all others zero";
}

Case case_of_rows(const Subject& subject, const ProofQuestion& question, Span rows, IndexType index_type) {
  const ProofDomain domain(question.domain, subject.dialect, question.input, question.fp8);
  Case c;
  c.shape = proof_shape(subject, question, rows.size(), index_type);
  c.input.resize(static_cast<std::size_t>(c.shape.input_bytes()));
  const SlotOrder order = slot_order(rows.size());
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    domain.make_row(rows.first + i, c.input.data() + i * c.shape.row_stride);
    c.indices.push_back(order.index(i));
  }
  c.poison_seed = 1;
  return c;
}

}  // namespace kvproof
