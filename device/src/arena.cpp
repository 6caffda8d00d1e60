#include "kvproof/device/arena.h"

#include <fmt/format.h>

#include <algorithm>

#include "ground.h"
#include "kvproof/device/error.h"

namespace kvproof {
namespace {

constexpr std::int64_t smallest_plain_guard = 64 * 1024;
constexpr std::int64_t guard_unit = 256;  // keeps the buffer's own alignment
constexpr std::int64_t smallest_reach = std::int64_t{64} << 20;

Poison reseeded(const Poison& poison, std::uint64_t salt) { return {poison.seed ^ salt, poison.complement}; }

std::unique_ptr<Ground> mirrored(Memory& memory, std::int64_t reach, const ArenaOptions& options) {
  switch (memory.kind()) {
    case MemoryKind::host:
      return host_ground(reach, options.largest_dense);
    case MemoryKind::cuda:
      return cuda_ground(memory, reach);
    case MemoryKind::own:
      break;
  }
  return nullptr;
}

std::string mib(std::int64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

}  // namespace

Poison pool_poison(const Poison& poison) { return poison; }
Poison input_poison(const Poison& poison) { return reseeded(poison, 0x696E707574ULL); }
Poison indices_poison(const Poison& poison) { return reseeded(poison, 0x696E6469636573ULL); }
Poison mirror_poison(const Poison& poison, bool after) {
  return reseeded(poison, after ? 0x6166746572ULL : 0x6265666F7265ULL);
}

Arena::Arena(std::unique_ptr<Memory> memory, const ArenaOptions& options) : memory_(std::move(memory)) {
  std::string reason;
  for (std::int64_t reach = options.reach; ground_ == nullptr && reach >= smallest_reach; reach /= 2) {
    try {
      ground_ = mirrored(*memory_, reach, options);
      if (ground_ == nullptr) {
        break;
      }
      if (reach != options.reach) {
        note_ = fmt::format("guards of {} instead of {}: {}", mib(reach), mib(options.reach), reason);
      }
    } catch (const CannotRun& error) {
      reason = error.what();
    }
  }
  if (ground_ == nullptr) {
    ground_ = plain_ground(*memory_);
    note_ = reason.empty() ? "" : fmt::format("plain guards: {}", reason);
  }
}

Arena::~Arena() = default;

std::int64_t Arena::plain_guard(const StoreShape& shape) {
  const std::int64_t wanted = std::max(smallest_plain_guard, 2 * shape.page_stride);
  return (wanted + guard_unit - 1) / guard_unit * guard_unit;
}

bool Arena::runs_in_place() const { return ground_->mirrors().has_value(); }

std::int64_t Arena::reach() const { return ground_->reach(); }

std::string Arena::device() const {
  return note_.empty() ? memory_->device() : fmt::format("{} ({})", memory_->device(), note_);
}

Observation Arena::run_in_place(const Subject& subject, const StoreShape& shape, std::span<const std::uint8_t> input,
                                std::span<const std::uint8_t> indices, const Poison& poison, Placement placement) {
  Observation seen;
  seen.poison = poison;
  OnDevice& device = seen.device.emplace();
  device.stream = memory_->stream();
  device.pool = ground_->pool(shape, poison);
  device.input = ground_->given(Given::input, input, input_poison(poison), placement);
  device.indices = ground_->given(Given::indices, indices, indices_poison(poison), placement);
  if (const auto mirrors = ground_->mirrors()) {
    device.mirrors = *mirrors;
  }

  kvproof_store_call call{};
  call.size = sizeof call;
  call.layout = static_cast<std::uint32_t>(shape.layout);
  call.input = device.input.data;
  call.input_type = static_cast<std::uint32_t>(shape.input_type);
  call.index_type = static_cast<std::uint32_t>(shape.index_type);
  call.tokens = shape.tokens;
  call.input_row_stride = shape.row_stride;
  call.cache = device.pool.data;
  call.pages = shape.pages;
  call.page_stride = shape.page_stride;
  call.page_size = static_cast<std::int32_t>(shape.page_size);
  call.fp8_type = static_cast<std::uint32_t>(shape.fp8);
  call.index = device.indices.data;
  call.stream = memory_->stream();

  const char* message = nullptr;
  const std::int32_t status = subject.store(subject.state, &call, &message);
  seen.message = message != nullptr ? message : "";
  memory_->synchronize();
  switch (status) {
    case KVPROOF_STORED:
      seen.outcome = Outcome::stored;
      break;
    case KVPROOF_REFUSED:
      seen.outcome = Outcome::refused;
      break;
    default:
      seen.outcome = Outcome::failed;
      if (seen.message.empty()) {
        seen.message = "status " + std::to_string(status) + " without a message";
      }
      break;
  }
  return seen;
}

Observation Arena::run(const Subject& subject, const StoreShape& shape, std::span<const std::uint8_t> input,
                       std::span<const std::uint8_t> indices, const Poison& poison, Placement placement) {
  Observation seen = run_in_place(subject, shape, input, indices, poison, placement);
  collect(seen);
  seen.device.reset();
  return seen;
}

void Arena::collect(Observation& seen) {
  const OnDevice& device = seen.device.value();
  seen.sparse = ground_->sparse_pool();
  if (!seen.sparse) {
    ground_->collect(device.pool, seen.pool);
  }
  ground_->collect(device.input, seen.input);
  ground_->collect(device.indices, seen.indices);
  seen.far = ground_->far();
}

void Arena::copy_pool(Observation& seen) {
  GuardedSpan pool = seen.device.value().pool;
  pool.before = 0;
  pool.after = 0;
  ground_->collect(pool, seen.pool);
}

}  // namespace kvproof
