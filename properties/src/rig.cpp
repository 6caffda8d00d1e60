#include "kvproof/properties/rig.h"

#include <fmt/format.h>

#include <cstring>

#include "kvproof/device/error.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

// Whether the kernel would not store tokens: to refuse a call of none is to leave the pool alone.
bool refused_tokens(const Observation& seen, const Launch& launch, const StoreShape& shape) {
  if (seen.outcome == Outcome::refused) {
    return true;
  }
  const std::vector<Step> steps = steps_of(launch, shape);
  for (const std::size_t at : seen.refused_steps) {
    const auto* call = std::get_if<StoreTokens>(&steps.at(at));
    if (call != nullptr && call->tokens > 0) {
      return true;
    }
  }
  return false;
}

std::vector<std::int32_t> owners_of(const Case& c, const Dialect& dialect) {
  std::vector<std::int32_t> owner(static_cast<std::size_t>(c.shape.capacity()), nobody);
  for (std::int64_t token = 0; token < c.shape.tokens; ++token) {
    const Location at = locate(c.indices[static_cast<std::size_t>(token)], c.shape.pages, c.shape.page_size, dialect);
    if (at.fate == Fate::stored) {
      std::int32_t& whose = owner[static_cast<std::size_t>(at.page * c.shape.page_size + at.slot)];
      whose = whose == nobody ? static_cast<std::int32_t>(token) : PoolAfter::several;
    }
  }
  return owner;
}

}  // namespace

std::int64_t PoolAfter::data_at(std::int64_t slot) const {
  const StoreShape& s = run.shape;
  return slot / s.page_size * s.page_stride + data_offset(s.layout, slot % s.page_size);
}

std::int64_t PoolAfter::scales_at(std::int64_t slot) const {
  const StoreShape& s = run.shape;
  return slot / s.page_size * s.page_stride + scale_offset(s.layout, slot % s.page_size, s.page_size);
}

void Rig::refused(const std::string& message) {
  if (!counts_.refused) {
    counts_.refused = true;
    counts_.refusal = message;
  }
}

std::optional<PoolAfter> Rig::run(const Case& c, const Launch& launch) {
  if (const auto contradiction = case_contradiction(c, subject_.dialect)) {
    throw BadInput(*contradiction);
  }
  Observation seen = arena_.run_in_place(subject_, c.shape, c.input, index_bytes_of(c), Poison{c.poison_seed, false},
                                         Placement::end_flush, launch);
  const auto require_success = [&] {
    if (seen.outcome == Outcome::failed) {
      throw Misbehaved(fmt::format("the kernel failed: {}", seen.message));
    }
  };
  require_success();
  if (refused_tokens(seen, launch, c.shape)) {
    refused(seen.message);
    return std::nullopt;
  }
  arena_.copy_pool(seen);
  require_success();
  return PoolAfter{c, std::move(seen.pool.bytes), owners_of(c, subject_.dialect)};
}

Trial Rig::judged(const Case& c, const Launch& launch) {
  Trial trial = try_case(arena_, subject_, c, launch);
  if (const auto wrong = misbehaviour(trial)) {
    throw Misbehaved(*wrong);
  }
  if (refused_tokens(trial.seen[0], launch, c.shape)) {
    refused(trial.seen[0].message);
  }
  compared(trial.bytes(), trial.codes());
  return trial;
}

void Differences::add(std::string place) {
  ++total_;
  if (room()) {
    places_.push_back(std::move(place));
  }
}

std::optional<Breach> Differences::breach(std::string_view of_what) const {
  if (total_ == 0) {
    return std::nullopt;
  }
  return Breach{fmt::format("{} {}", total_, of_what), places_, {}};
}

std::string place_in_pool(const StoreShape& shape, std::int64_t offset) {
  WrongByte byte;
  byte.offset = offset;
  byte.page = offset / shape.page_stride;
  byte.place = place_in_page(shape.layout, shape.page_size, offset % shape.page_stride);
  return describe_place(byte, shape);
}

std::optional<Breach> pools_differ(Rig& rig, const PoolAfter& a, const PoolAfter& b, std::string_view first,
                                   std::string_view second) {
  const StoreShape& s = a.run.shape;
  std::int64_t rows = 0;
  for (const std::int32_t owner : a.owner) {
    rows += owner >= 0 ? 1 : 0;
  }
  rig.compared(static_cast<std::int64_t>(a.bytes.size()), rows * layout_shape(s.layout).codes);
  if (a.bytes.size() == b.bytes.size() && std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0) {
    return std::nullopt;
  }
  Differences differences;
  for (std::size_t i = 0; i < a.bytes.size() && i < b.bytes.size(); ++i) {
    if (a.bytes[i] == b.bytes[i]) {
      continue;
    }
    const auto offset = static_cast<std::int64_t>(i);
    const PagePlace place = place_in_page(s.layout, s.page_size, offset % s.page_stride);
    if (place.region != Region::tail) {
      const auto slot = static_cast<std::size_t>(offset / s.page_stride * s.page_size + place.slot);
      if (a.owner[slot] == PoolAfter::several || b.owner[slot] == PoolAfter::several) {
        continue;
      }
    }
    differences.add(
        fmt::format("{}: 0x{:02x} {}, 0x{:02x} {}", place_in_pool(s, offset), a.bytes[i], first, b.bytes[i], second));
  }
  return differences.breach(fmt::format("bytes are not the same {} and {}", first, second));
}

}  // namespace kvproof
