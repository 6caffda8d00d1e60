// The dialects that public ports speak, by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kvproof/reference/dialect.h"

namespace kvproof {

struct NamedDialect {
  std::string_view name;
  Dialect dialect;
  bool fnuz;              // whether the port also stores e4m3fnuz
  std::string_view note;  // one sentence for a reader
};

// Every (name, layout) pair, in a fixed order; a name appears once for each layout that its port has.
std::span<const NamedDialect> dialects();

// The dialect of that name for that layout, or null.
const NamedDialect* find_dialect(std::string_view name, Layout layout);

// The names, each once, in table order, joined by ", ": for error messages.
std::string dialect_names();

// Why the fields of `dialect` contradict one another, or nothing if they do not.
std::optional<std::string> dialect_contradiction(const Dialect& dialect);

}  // namespace kvproof
