#include "kvproof/fuzz/call_format.h"

#include <algorithm>

namespace kvproof::fuzz {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint8_t byte() { return at_ < bytes_.size() ? bytes_[at_++] : std::uint8_t{0}; }

  std::uint16_t number() {
    const unsigned low = byte();
    return static_cast<std::uint16_t>(low | (unsigned{byte()} << 8));
  }

  template <class Choice>
  Choice choice(std::size_t count) {
    return static_cast<Choice>(byte() % count);
  }

  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

class Writer {
 public:
  explicit Writer(std::span<std::uint8_t> to) : to_(to) {}

  void byte(std::uint8_t value) { to_[at_++] = value; }

  void number(std::uint16_t value) {
    byte(static_cast<std::uint8_t>(value));
    byte(static_cast<std::uint8_t>(value >> 8));
  }

  template <class Choice>
  void choice(Choice value) {
    byte(static_cast<std::uint8_t>(value));
  }

  std::size_t size() const { return at_; }

 private:
  std::span<std::uint8_t> to_;
  std::size_t at_ = 0;
};

}  // namespace

void decode_call(std::span<const std::uint8_t> bytes, FuzzCall& call) {
  Reader reader(bytes);
  reader.byte();  // the version
  call.kernel = reader.byte();
  call.input_type = reader.byte();
  call.index_type = reader.byte();
  call.fp8 = reader.byte();
  call.page_size = reader.byte();
  call.pages = reader.byte();
  call.page_stride = reader.choice<PageStride>(page_strides);
  call.page_stride_number = reader.number();
  call.row_stride = reader.choice<RowStride>(row_strides);
  call.row_stride_number = reader.byte();
  reader.byte();  // reserved
  call.poison = reader.number();
  call.tokens.resize(std::min(reader.left() / call_token_bytes, FuzzCall::most_tokens));
  for (FuzzToken& token : call.tokens) {
    token.index = reader.choice<IndexClass>(index_classes);
    token.number = reader.number();
    token.values = reader.choice<ValueClass>(value_classes);
    token.row = reader.byte();
  }
}

std::size_t encode_call(const FuzzCall& call, std::span<std::uint8_t> to) {
  if (to.size() < call_header_bytes) {
    return 0;
  }
  Writer writer(to);
  writer.byte(call_format_version);
  writer.byte(call.kernel);
  writer.byte(call.input_type);
  writer.byte(call.index_type);
  writer.byte(call.fp8);
  writer.byte(call.page_size);
  writer.byte(call.pages);
  writer.choice(call.page_stride);
  writer.number(call.page_stride_number);
  writer.choice(call.row_stride);
  writer.byte(call.row_stride_number);
  writer.byte(0);
  writer.number(call.poison);
  const std::size_t room = (to.size() - call_header_bytes) / call_token_bytes;
  const std::size_t tokens = std::min({call.tokens.size(), room, FuzzCall::most_tokens});
  for (std::size_t i = 0; i < tokens; ++i) {
    const FuzzToken& token = call.tokens[i];
    writer.choice(token.index);
    writer.number(token.number);
    writer.choice(token.values);
    writer.byte(token.row);
  }
  return writer.size();
}

std::vector<std::uint8_t> encoded_call(const FuzzCall& call) {
  std::vector<std::uint8_t> bytes(most_call_bytes);
  bytes.resize(encode_call(call, bytes));
  return bytes;
}

}  // namespace kvproof::fuzz
