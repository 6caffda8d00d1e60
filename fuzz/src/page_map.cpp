#include "kvproof/fuzz/page_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kvproof/reference/locate.h"

namespace kvproof::fuzz {
namespace {

constexpr std::int64_t most_slots = 64;
constexpr std::size_t most_pages = 8;

struct Page {
  explicit Page(std::int64_t slots) : data(static_cast<std::size_t>(slots), '.'), scales(data) {}

  std::string data;
  std::string scales;
  std::int64_t tail = 0;  // bytes changed
};

class Map {
 public:
  explicit Map(const StoreShape& s) : slots_(std::min(s.page_size, most_slots)) {}

  void owned(const Location& at) {
    Page& page = this->page(at.page);
    if (at.slot < slots_) {
      page.data[static_cast<std::size_t>(at.slot)] = 'o';
      page.scales[static_cast<std::size_t>(at.slot)] = 'o';
    }
  }

  void wrong(const WrongByte& wrong) {
    if (wrong.area != Area::pool) {
      ++outside_[wrong.area];
      return;
    }
    Page& page = this->page(wrong.page);
    if (wrong.place.region == Region::tail) {
      ++page.tail;
    } else if (wrong.place.slot < slots_) {
      const bool data = wrong.place.region == Region::code || wrong.place.region == Region::rope;
      char& mark = (data ? page.data : page.scales)[static_cast<std::size_t>(wrong.place.slot)];
      mark = mark == 'o' || mark == '!' ? '!' : 'X';
    }
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [number, page] : pages_) {
      if (lines.size() == most_pages) {
        lines.push_back(fmt::format("and {} more pages", pages_.size() - most_pages));
        break;
      }
      const std::string tail =
          page.tail == 0 ? "ok" : fmt::format("{} byte{} changed", page.tail, page.tail == 1 ? "" : "s");
      lines.push_back(fmt::format("page {}: data {}  scales {}  tail {}", number, page.data, page.scales, tail));
    }
    for (const auto& [area, bytes] : outside_) {
      lines.push_back(fmt::format("{}: {} byte{} changed", name_of(area), bytes, bytes == 1 ? "" : "s"));
    }
    return lines;
  }

 private:
  Page& page(std::int64_t number) { return pages_.try_emplace(number, slots_).first->second; }

  std::int64_t slots_;
  std::map<std::int64_t, Page> pages_;
  std::map<Area, std::int64_t> outside_;
};

}  // namespace

std::vector<std::string> page_map(const Case& c, const Breach& breach, const Dialect& dialect) {
  Map map(c.shape);
  for (const std::int64_t index : c.indices) {
    const Location at = locate(index, c.shape.pages, c.shape.page_size, dialect);
    if (at.fate == Fate::stored) {
      map.owned(at);
    }
  }
  for (const WrongByte& wrong : breach.wrong) {
    map.wrong(wrong);
  }
  return map.lines();
}

}  // namespace kvproof::fuzz
