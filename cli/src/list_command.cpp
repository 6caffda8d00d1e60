// kvproof list: what there is to check, and against what.
#include <fmt/format.h>

#include "commands.h"
#include "kernels.h"
#include "kvproof/properties/property.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/names.h"
#include "report.h"

namespace kvproof::cli {
namespace {

struct Options {
  KernelChoice kernels;
  bool dialects = false;
  bool properties = false;
  bool json = false;
};

template <class Enum>
std::string joined(const std::vector<Enum>& values) {
  std::string all;
  for (const Enum value : values) {
    all += all.empty() ? "" : ", ";
    all += name_of(value);
  }
  return all;
}

template <class Enum>
Json array_of(const std::vector<Enum>& values) {
  Json all = Json::array();
  for (const Enum value : values) {
    all.push_back(name_of(value));
  }
  return all;
}

int list_dialects(bool json) {
  Json all = Json::array();
  for (const NamedDialect& entry : dialects()) {
    if (json) {
      all.push_back(
          {{"name", entry.name}, {"layout", name_of(entry.dialect.layout)}, {"fnuz", entry.fnuz}, {"note", entry.note}});
    } else {
      fmt::print("{:<20}{:<10}{}\n", entry.name, name_of(entry.dialect.layout), entry.note);
    }
  }
  if (json) {
    fmt::print("{}\n", Json{{"dialects", all}}.dump(1));
  }
  return holds;
}

int list_properties(bool json) {
  Json all = Json::array();
  for (const Property& property : properties()) {
    if (json) {
      all.push_back({{"name", property.name},
                     {"promise", property.promise},
                     {"catches", property.catches},
                     {"exercised_by", property.exercised_by}});
    } else {
      fmt::print("{}\n  {}\n  catches: {}\n  exercised by: {}\n", property.name, property.promise, property.catches,
                 property.exercised_by);
    }
  }
  if (json) {
    fmt::print("{}\n", Json{{"properties", all}}.dump(1));
  }
  return holds;
}

int list_kernels(const Options& options) {
  Json all = Json::array();
  const Kernels kernels(options.kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Subject& subject = kernels.subject(i);
    if (options.json) {
      all.push_back({{"name", subject.name},
                     {"origin", subject.origin},
                     {"layout", name_of(subject.dialect.layout)},
                     {"dialect", subject.dialect_name},
                     {"memory", name_of(subject.memory)},
                     {"input_types", array_of(subject.input_types)},
                     {"index_types", array_of(subject.index_types)},
                     {"fp8_types", array_of(subject.fp8_types)},
                     {"page_sizes", subject.page_sizes}});
    } else {
      fmt::print("{:<12}{:<10}{:<20}{:<6}{}; {}; {}\n", subject.name, name_of(subject.dialect.layout), subject.dialect_name,
                 name_of(subject.memory), joined(subject.input_types), joined(subject.index_types),
                 joined(subject.fp8_types));
    }
  }
  if (options.json) {
    fmt::print("{}\n", Json{{"kernels", all}}.dump(1));
  }
  return holds;
}

}  // namespace

void add_list(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("list", "List kernels, dialects or properties");
  options->kernels.add_to(*command);
  auto* dialects_flag = command->add_flag("--dialects", options->dialects, "The dialects instead of the kernels");
  command->add_flag("--properties", options->properties, "The properties instead of the kernels")->excludes(dialects_flag);
  command->add_flag("--json", options->json, "As JSON on standard output");
  command->footer(
      "Examples:\n"
      "  kvproof list\n"
      "  kvproof list --dialects\n"
      "  kvproof list --kernel ./my_kernel.so --json");
  command->callback([&chosen, options] {
    chosen.work = [options] {
      if (options->dialects) {
        return list_dialects(options->json);
      }
      return options->properties ? list_properties(options->json) : list_kernels(*options);
    };
  });
}

}  // namespace kvproof::cli
