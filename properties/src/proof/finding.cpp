#include <fmt/format.h>

#include <bit>

#include "call.h"
#include "kvproof/properties/prove.h"
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

class Row {
 public:
  Row(const Subject& subject, const ProofTask& task, const ProofPages& pages, std::int64_t row, const RowImage& found)
      : subject_(subject),
        task_(task),
        pages_(pages),
        row_(row),
        layout_(layout_shape(subject.dialect.layout)),
        found_(found) {
    const ProofDomain domain(task.domain, subject.dialect, task.input, task.fp8);
    bytes_.resize(static_cast<std::size_t>(domain.row_bytes()));
    domain.make_row(row, bytes_.data());
    encode_row(bytes_.data(), task.input, subject.dialect, task.fp8, &expected_);
  }

  RowFinding finding() const { return {in_words(), as_case()}; }

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

  std::string in_words() const { return fmt::format("{}; input {}, {}", wrong(), name_of(task_.input), name_of(task_.fp8)); }

  std::string wrong() const {
    for (int i = 0; i < layout_.tiles * layout_.bytes_per_scale; ++i) {
      if (found_.scales[i] != expected_.scales[i]) {
        return scale(i / layout_.bytes_per_scale);
      }
    }
    for (int i = 0; i < layout_.codes; ++i) {
      if (found_.data[i] != expected_.data[i]) {
        const int tile = i / layout_.tile;
        return fmt::format("{}, x {}: code {}, expected 0x{:02x}, at tile {} element {}", amax(tile),
                           pattern(element(i), task_.input), found_or_left(found_.data[i], expected_.data[i]),
                           expected_.data[i], tile, i % layout_.tile);
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

  Case as_case() const {
    Case c;
    c.shape = proof_shape(subject_, task_.input, task_.fp8, pages_, 1, 0);
    c.shape.pages = 1 / c.shape.page_size + 1;
    c.input = bytes_;
    c.indices = {1};
    c.poison_seed = 1;
    return c;
  }

  const Subject& subject_;
  const ProofTask& task_;
  const ProofPages& pages_;
  std::int64_t row_;
  LayoutShape layout_;
  const RowImage& found_;
  RowImage expected_{};
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

RowFinding name_wrong_row(const Subject& subject, const ProofTask& task, const ProofPages& pages, std::int64_t row,
                          const RowImage& found) {
  return Row(subject, task, pages, row, found).finding();
}

}  // namespace kvproof
