#include "kvproof/device/subject.h"

#include <fmt/format.h>

#include <string_view>

#include "kvproof/device/error.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

constexpr std::uint64_t most_page_sizes = 65536;

// Checks one descriptor. `where` names it in messages: "libx.so: kernel 2 (name)".
class Descriptor {
 public:
  Descriptor(const kvproof_kernel& kernel, std::string where) : kernel_(kernel), where_(std::move(where)) {}

  // The subject, but for what depends on the layout.
  Subject common() const;

  // The dialect for `layout`, checked.
  Dialect dialect(Layout layout) const;

  std::vector<Layout> layouts() const { return members<Layout>("layouts", kernel_.layouts); }

  [[noreturn]] void fail(std::string_view field, const std::string& value, const std::string& expected) const {
    throw BadInput(fmt::format("{}: {} is {}: expected {}", where_, field, value, expected));
  }

 private:
  template <class Enum>
  std::vector<Enum> members(std::string_view field, std::uint32_t set) const;
  template <class Enum>
  Enum choice(std::string_view field, std::uint32_t value) const;
  void check_name() const;
  void check_dialect_source() const;
  void check_memory() const;
  std::vector<std::int64_t> page_sizes() const;

  const kvproof_kernel& kernel_;
  std::string where_;
};

template <class Enum>
std::vector<Enum> Descriptor::members(std::string_view field, std::uint32_t set) const {
  constexpr std::size_t known = Names<Enum>::values.size();
  if (set == 0 || (set >> known) != 0) {
    fail(field, fmt::format("{:#x}", set),
         fmt::format("a non-empty set of {} (at most {:#x})", names_of<Enum>(), (1U << known) - 1));
  }
  std::vector<Enum> found;
  for (std::size_t i = 0; i < known; ++i) {
    if ((set & (1U << i)) != 0) {
      found.push_back(static_cast<Enum>(i));
    }
  }
  return found;
}

template <class Enum>
Enum Descriptor::choice(std::string_view field, std::uint32_t value) const {
  constexpr std::size_t known = Names<Enum>::values.size();
  if (value >= known) {
    fail(field, std::to_string(value), fmt::format("0 to {} ({})", known - 1, names_of<Enum>()));
  }
  return static_cast<Enum>(value);
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

// A text from a descriptor, fit for one line of a message.
std::string quoted(std::string_view text) {
  std::string line = "\"";
  for (const char c : text.substr(0, 80)) {
    line += c >= ' ' && c <= '~' ? c : '?';
  }
  return line + "\"";
}

void Descriptor::check_name() const {
  const std::string expected = "letters, digits, '-', '_' and '.', at least one";
  if (kernel_.name == nullptr) {
    fail("name", "null", expected);
  }
  const std::string_view name = kernel_.name;
  bool good = !name.empty();
  for (const char c : name) {
    good = good && is_name_character(c);
  }
  if (!good) {
    fail("name", quoted(name), expected);
  }
}

void Descriptor::check_dialect_source() const {
  if (kernel_.dialect == nullptr && kernel_.fields == nullptr) {
    fail("dialect", "null, as fields is", "one of them");
  }
  if (kernel_.dialect != nullptr && kernel_.fields != nullptr) {
    fail("dialect", quoted(kernel_.dialect) + " and fields is given too", "one of them");
  }
  if (kernel_.fields != nullptr && kernel_.fields->size != sizeof(kvproof_dialect)) {
    fail("fields.size", std::to_string(kernel_.fields->size), std::to_string(sizeof(kvproof_dialect)));
  }
}

void Descriptor::check_memory() const {
  if (kernel_.memory > KVPROOF_MEMORY_OWN) {
    fail("memory", std::to_string(kernel_.memory), "0 (host), 1 (cuda) or 2 (own)");
  }
  const kvproof_memory* own = kernel_.own_memory;
  if (kernel_.memory != KVPROOF_MEMORY_OWN) {
    if (own != nullptr) {
      fail("own_memory", fmt::format("given with memory {}", kernel_.memory), "null unless memory is 2 (own)");
    }
    return;
  }
  if (own == nullptr) {
    fail("own_memory", "null", "the functions of memory 2 (own)");
  }
  if (own->size != sizeof(kvproof_memory)) {
    fail("own_memory.size", std::to_string(own->size), std::to_string(sizeof(kvproof_memory)));
  }
  const struct {
    std::string_view field;
    bool given;
  } functions[] = {{"own_memory.allocate", own->allocate != nullptr},
                   {"own_memory.release", own->release != nullptr},
                   {"own_memory.copy_in", own->copy_in != nullptr},
                   {"own_memory.copy_out", own->copy_out != nullptr},
                   {"own_memory.synchronize", own->synchronize != nullptr}};
  for (const auto& function : functions) {
    if (!function.given) {
      fail(function.field, "null", "a function");
    }
  }
}

std::vector<std::int64_t> Descriptor::page_sizes() const {
  const std::uint64_t count = kernel_.page_size_count;
  if ((kernel_.page_sizes == nullptr) != (count == 0)) {
    fail("page_size_count", std::to_string(count),
         kernel_.page_sizes == nullptr ? "0, as page_sizes is null" : "1 or more, as page_sizes is given");
  }
  if (count > most_page_sizes) {
    fail("page_size_count", std::to_string(count), fmt::format("at most {}", most_page_sizes));
  }
  std::vector<std::int64_t> sizes;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (kernel_.page_sizes[i] < 1) {
      fail(fmt::format("page_sizes[{}]", i), std::to_string(kernel_.page_sizes[i]), "1 or more");
    }
    sizes.push_back(kernel_.page_sizes[i]);
  }
  return sizes;
}

Subject Descriptor::common() const {
  check_name();
  check_dialect_source();
  check_memory();
  Subject subject;
  subject.name = kernel_.name;
  subject.dialect_name = kernel_.dialect != nullptr ? kernel_.dialect : "custom";
  subject.input_types = members<ElementType>("input_types", kernel_.input_types);
  subject.index_types = members<IndexType>("index_types", kernel_.index_types);
  subject.fp8_types = members<Fp8>("fp8_types", kernel_.fp8_types);
  subject.page_sizes = page_sizes();
  if (kernel_.duplicates > KVPROOF_DUPLICATES_BYTE) {
    fail("duplicates", std::to_string(kernel_.duplicates), "0 (unit), 1 (row), 2 (last), 3 (forbidden) or 4 (byte)");
  }
  subject.duplicates = static_cast<Duplicates>(kernel_.duplicates);
  subject.memory = static_cast<MemoryKind>(kernel_.memory);
  if (kernel_.own_memory != nullptr) {
    subject.own_memory = *kernel_.own_memory;
  }
  if (kernel_.reserved != 0) {
    fail("reserved", std::to_string(kernel_.reserved), "0");
  }
  if (kernel_.store == nullptr) {
    fail("store", "null", "a function");
  }
  subject.store = kernel_.store;
  subject.state = kernel_.state;
  return subject;
}

Dialect Descriptor::dialect(Layout layout) const {
  if (kernel_.dialect != nullptr) {
    const NamedDialect* found = find_dialect(kernel_.dialect, layout);
    if (found != nullptr) {
      return found->dialect;
    }
    const Layout other = layout == Layout::flashmla ? Layout::indexer : Layout::flashmla;
    if (find_dialect(kernel_.dialect, other) != nullptr) {
      fail("dialect", fmt::format("{}, which has no layout {}", quoted(kernel_.dialect), name_of(layout)),
           fmt::format("layout {} alone, or another dialect", name_of(other)));
    }
    fail("dialect", quoted(kernel_.dialect), "one of " + dialect_names());
  }
  if (layouts().size() != 1) {
    fail("layouts", fmt::format("{:#x}", kernel_.layouts), "one layout, as fields speaks of one");
  }
  const kvproof_dialect& fields = *kernel_.fields;
  if (fields.fnuz_limit != 240 && fields.fnuz_limit != 224) {
    fail("fields.fnuz_limit", std::to_string(fields.fnuz_limit), "240 or 224");
  }
  if (fields.reciprocal_ulp > 4) {
    fail("fields.reciprocal_ulp", std::to_string(fields.reciprocal_ulp), "0 to 4");
  }
  Dialect d;
  d.layout = layout;
  d.floor = choice<Floor>("fields.floor", fields.floor);
  d.floor_value = fields.floor_bits;
  d.ratio = choice<Ratio>("fields.ratio", fields.ratio);
  d.scale = choice<Scale>("fields.scale", fields.scale);
  d.quantise = choice<Quantise>("fields.quantise", fields.quantise);
  d.fnuz_limit = static_cast<int>(fields.fnuz_limit);
  d.pad = choice<Pad>("fields.pad", fields.pad);
  d.invalid = choice<InvalidIndex>("fields.invalid_index", fields.invalid_index);
  d.division = choice<Division>("fields.division", fields.division);
  d.index_width = choice<Width>("fields.index_width", fields.index_width);
  d.offset_width = choice<Width>("fields.offset_width", fields.offset_width);
  d.nan = choice<NanCode>("fields.nan_code", fields.nan_code);
  d.infinity = choice<Infinity>("fields.infinity", fields.infinity);
  d.reciprocal_ulp = static_cast<int>(fields.reciprocal_ulp);
  if (const auto contradiction = dialect_contradiction(d)) {
    throw BadInput(fmt::format("{}: fields contradict one another: {}", where_, *contradiction));
  }
  return d;
}

std::string_view memory_name(MemoryKind memory) {
  return memory == MemoryKind::host ? "host" : (memory == MemoryKind::cuda ? "cuda" : "own memory");
}

}  // namespace

std::string Subject::title() const {
  const std::string spoken = fmt::format("{}/{} on {}", name_of(dialect.layout), dialect_name, memory_name(memory));
  return name == name_of(dialect.layout) ? spoken : fmt::format("{} {}", name, spoken);
}

std::vector<Subject> subjects_of(const kvproof_kernel* kernels, std::size_t count, const std::string& origin,
                                 std::shared_ptr<void> library) {
  if (kernels == nullptr || count == 0) {
    throw BadInput(fmt::format("{}: {} kernels: expected at least one descriptor", origin, count));
  }
  std::vector<Subject> subjects;
  for (std::size_t i = 0; i < count; ++i) {
    const kvproof_kernel& kernel = kernels[i];
    // Nothing else of a descriptor of another size is where it is looked for, its name included.
    if (kernel.size != sizeof(kvproof_kernel)) {
      throw BadInput(fmt::format("{}: kernel {}: size is {}: expected {}", origin, i, kernel.size, sizeof(kvproof_kernel)));
    }
    const std::string name = kernel.name == nullptr || *kernel.name == '\0' ? "" : " " + quoted(kernel.name);
    const Descriptor descriptor(kernel, fmt::format("{}: kernel {}{}", origin, i, name));
    Subject subject = descriptor.common();
    subject.origin = origin;
    subject.library = library;
    for (const Layout layout : descriptor.layouts()) {
      subject.dialect = descriptor.dialect(layout);
      for (const Subject& other : subjects) {
        if (other.name == subject.name && other.dialect.layout == layout && other.dialect_name == subject.dialect_name &&
            other.memory == subject.memory) {
          descriptor.fail("name", subject.title() + " a second time", "each name, layout, dialect and memory once");
        }
      }
      subjects.push_back(subject);
    }
  }
  return subjects;
}

}  // namespace kvproof
