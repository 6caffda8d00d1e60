// Any memory: a guard on each side of each buffer, in one allocation with it.
#include <algorithm>
#include <bit>

#include "fill_poison.h"
#include "ground.h"

namespace kvproof {

GuardedSpan place_given(std::uint8_t* room_begin, std::int64_t room, std::int64_t bytes, Placement placement) {
  GuardedSpan region;
  region.size = bytes;
  if (placement == Placement::start_flush) {
    region.data = room_begin;
    region.after = given_guard;
    return region;
  }
  const std::int64_t taken = (bytes + given_alignment - 1) / given_alignment * given_alignment;
  region.data = room_begin + room - taken;
  region.before = given_guard;
  region.after = taken - bytes;
  return region;
}

std::int64_t given_room(std::int64_t bytes) { return bytes + given_alignment + given_guard; }

namespace {

class PlainGround final : public Ground {
 public:
  explicit PlainGround(Memory& memory) : memory_(memory) {}
  ~PlainGround() override {
    for (Buffer& buffer : buffers_) {
      release(buffer);
    }
  }

  GuardedSpan pool(const StoreShape& shape, const Poison& poison) override {
    const std::int64_t guard = Arena::plain_guard(shape);
    GuardedSpan region = room(buffers_[0], shape.pool_bytes(), guard);
    image_.resize(static_cast<std::size_t>(region.all()));
    fill_poison(pool_poison(poison), -guard, image_.data(), region.all());
    memory_.copy_in(region.begin(), image_.data(), image_.size());
    return region;
  }

  GuardedSpan given(Given which, std::span<const std::uint8_t> bytes, const Poison& poison, Placement) override {
    GuardedSpan region = room(buffers_[which == Given::input ? 1 : 2], static_cast<std::int64_t>(bytes.size()), given_guard);
    image_.resize(static_cast<std::size_t>(region.all()));
    const GuardedSpan image{image_.data() + given_guard, region.size, given_guard, given_guard};
    fill_guards(poison, image);
    std::copy(bytes.begin(), bytes.end(), image.data);
    memory_.copy_in(region.begin(), image_.data(), image_.size());
    return region;
  }

  void collect(const GuardedSpan& region, GuardedBytes& bytes) override {
    bytes.before = region.before;
    bytes.after = region.after;
    bytes.bytes.resize(static_cast<std::size_t>(region.all()));
    memory_.copy_out(bytes.bytes.data(), region.begin(), bytes.bytes.size());
  }

 private:
  struct Buffer {
    void* pointer = nullptr;
    std::uint64_t capacity = 0;
  };

  void release(Buffer& buffer) {
    if (buffer.pointer != nullptr) {
      memory_.release(buffer.pointer);
      buffer = {};
    }
  }

  GuardedSpan room(Buffer& buffer, std::int64_t size, std::int64_t guard) {
    const auto bytes = static_cast<std::uint64_t>(size + 2 * guard);
    if (buffer.capacity < bytes) {
      release(buffer);
      const std::uint64_t capacity = std::bit_ceil(bytes);
      buffer.pointer = memory_.allocate(capacity);
      buffer.capacity = capacity;
    }
    return {static_cast<std::uint8_t*>(buffer.pointer) + guard, size, guard, guard};
  }

  Memory& memory_;
  Buffer buffers_[3];
  std::vector<std::uint8_t> image_;
};

}  // namespace

std::unique_ptr<Ground> plain_ground(Memory& memory) { return std::make_unique<PlainGround>(memory); }

}  // namespace kvproof
