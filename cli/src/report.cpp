#include "report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "kvproof/device/error.h"
#include "kvproof/properties/write_file.h"
#include "kvproof/reference/names.h"

namespace kvproof::cli {
namespace {

constexpr std::size_t places_shown = 5;

}  // namespace

std::string counted(std::int64_t count) {
  const auto value = static_cast<double>(count);
  if (count < 10'000) {
    return std::to_string(count);
  }
  if (value < 1e6) {
    return fmt::format("{:.1f} k", value / 1e3);
  }
  if (value < 1e9) {
    return fmt::format("{:.1f} M", value / 1e6);
  }
  return fmt::format("{:.2f} G", value / 1e9);
}

std::string bytes_counted(std::int64_t bytes) {
  const std::string number = counted(bytes);
  return number + (number.back() >= 'A' ? "B" : " B");
}

std::string shell_quoted(const std::string& argument) {
  const bool plain = !argument.empty() && std::all_of(argument.begin(), argument.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./:=+,@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) {
    return argument;
  }
  std::string result = "'";
  for (const char c : argument) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

void print_places(const Breach& breach) {
  for (std::size_t i = 0; i < std::min(places_shown, breach.places.size()); ++i) {
    fmt::print("    {}\n", breach.places[i]);
  }
  if (breach.places.size() > places_shown) {
    fmt::print("    and {} more (all of them with --json)\n", breach.places.size() - places_shown);
  }
}

void print_explained(std::int64_t codes, int ulp, const std::string& example) {
  if (codes != 0) {
    fmt::print("  {} code{} explained by the declared error of {} ulp, e.g. {}\n", counted(codes), codes == 1 ? "" : "s",
               ulp, example);
  }
}

Json breach_json(const Breach& breach) {
  Json wrong = Json::array();
  for (const WrongByte& byte : breach.wrong) {
    Json entry{{"area", name_of(byte.area)}, {"wrong", name_of(byte.wrong)}, {"offset", byte.offset}};
    if (byte.area == Area::pool) {
      entry["region"] = name_of(byte.place.region);
      entry["page"] = byte.page;
      for (const auto& [name, value] : {std::pair<const char*, std::int64_t>{"slot", byte.place.slot},
                                        {"tile", byte.place.tile},
                                        {"element", byte.place.element},
                                        {"byte", byte.place.byte},
                                        {"token", byte.token}}) {
        if (value >= 0) {
          entry[name] = value;
        }
      }
    }
    entry["expected"] = byte.expected;
    entry["found"] = byte.found;
    wrong.push_back(std::move(entry));
  }
  return {{"summary", breach.summary}, {"places", breach.places}, {"wrong_bytes", std::move(wrong)}};
}

void write_json(const std::filesystem::path& path, const Json& json) {
  write_file(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void expect_writable(const std::string& path) {
  if (path.empty()) {
    return;
  }
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const bool there = std::filesystem::exists(path, error);
  if (std::filesystem::is_directory(path, error) || access(there ? path.c_str() : folder.c_str(), W_OK) != 0) {
    throw CannotRun(fmt::format("{}: cannot be written", path));
  }
}

void expect_folder(const std::string& folder) {
  if (folder.empty()) {
    return;
  }
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(folder, error).lexically_normal();
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) {
    there = there.parent_path();  // what is missing is made in it
  }
  if (!std::filesystem::is_directory(there, error) || access(there.c_str(), W_OK) != 0) {
    throw CannotRun(fmt::format("{}: no files can be put into such a folder", folder));
  }
}

}  // namespace kvproof::cli
