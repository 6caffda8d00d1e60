#include "option_values.h"

#include <fmt/format.h>

#include <map>
#include <random>

#include "kvproof/device/error.h"

namespace kvproof::cli {

CLI::Validator positive_number() {
  return {[](std::string& text) -> std::string {
            double value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && value > 0 && value <= 1e6;
            return good ? std::string{} : fmt::format("{}: expected more than 0 and at most 1000000", text);
          },
          "POSITIVE"};
}

CLI::Validator duration() {
  return CLI::AsNumberWithUnit(std::map<std::string, double>{{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}});
}

std::uint64_t seed_of(const std::string& text) {
  if (text.empty()) {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }
  try {
    std::size_t used = 0;
    const std::uint64_t seed = std::stoull(text, &used, 0);
    if (used == text.size() && text.front() != '-') {
      return seed;
    }
  } catch (const std::exception&) {
  }
  throw BadInput(fmt::format("--seed {}: expected an integer of 64 bits, decimal or with 0x", text));
}

}  // namespace kvproof::cli
