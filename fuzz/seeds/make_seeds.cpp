// Seeds for the targets: calls as production makes them, pages with every code, the names of dialects. The case reader's
// seeds are the golden vectors themselves.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "kvproof/device/error.h"
#include "kvproof/fuzz/corpus_folder.h"
#include "kvproof/properties/write_file.h"
#include "kvproof/reference/dialects.h"

namespace {

using namespace kvproof;
using namespace kvproof::fuzz;

namespace fs = std::filesystem;

// Page sizes by their place in the list that calls choose from: 2 (C128), 64 (C4, indexer) and 256 (sliding window).
constexpr std::uint8_t production_page_sizes[] = {0, 2, 4};

FuzzToken token(IndexClass index, std::size_t number) {
  return {index, static_cast<std::uint16_t>(number), ValueClass::spread, static_cast<std::uint8_t>(number)};
}

// A chunk of a prompt: slots in order.
std::vector<FuzzToken> prefill(std::size_t tokens) {
  std::vector<FuzzToken> batch;
  for (std::size_t i = 0; i < tokens; ++i) {
    batch.push_back(token(IndexClass::slot, i));
  }
  return batch;
}

// A decode step of a graph batch: a token of each sequence, each in a page of its own, then padding rows.
std::vector<FuzzToken> decode(std::size_t sequences, std::size_t padded, IndexClass padding) {
  std::vector<FuzzToken> batch;
  for (std::size_t i = 0; i < sequences; ++i) {
    batch.push_back(token(i % 2 == 0 ? IndexClass::page_first : IndexClass::page_last, i));
  }
  while (batch.size() < padded) {
    batch.push_back(token(padding, batch.size()));
  }
  return batch;
}

std::vector<FuzzCall> production_calls() {
  const std::vector<std::vector<FuzzToken>> batches{
      {},
      prefill(1),
      prefill(FuzzCall::most_tokens),
      decode(1, 1, IndexClass::zero),
      decode(5, 8, IndexClass::zero),
      decode(5, 8, IndexClass::minus_one),
      decode(9, 16, IndexClass::zero),
      {token(IndexClass::last, 0), token(IndexClass::capacity, 0)},
      {token(IndexClass::across_2_31, 0), token(IndexClass::across_2_31, 1), token(IndexClass::across_2_32, 1)}};
  std::vector<FuzzCall> calls;
  for (const std::uint8_t page_size : production_page_sizes) {
    for (const PageStride stride : {PageStride::production, PageStride::packed_layers}) {
      for (const std::vector<FuzzToken>& batch : batches) {
        FuzzCall call;
        call.index_type = static_cast<std::uint8_t>(calls.size() % 2);
        call.kernel = static_cast<std::uint8_t>(calls.size() % 16);
        call.page_size = page_size;
        call.pages = 11;
        call.page_stride = stride;
        call.tokens = batch;
        calls.push_back(call);
      }
    }
  }
  return calls;
}

void write_pages(const fs::path& folder) {
  std::string codes;
  for (int code = 0; code < 256; ++code) {
    codes += static_cast<char>(code);
  }
  for (char layout = 0; layout < 2; ++layout) {
    for (char fp8 = 0; fp8 < 2; ++fp8) {
      write_file_and_folder(folder / fmt::format("every-code-{:d}-{:d}", layout, fp8),
                            std::string{layout, fp8, 1, 1} + codes);
    }
  }
}

void write_dialects(const fs::path& folder) {
  for (const NamedDialect& entry : dialects()) {
    const auto layout = static_cast<char>(entry.dialect.layout);
    write_file_and_folder(folder / fmt::format("{}-{:d}", entry.name, layout),
                          static_cast<char>(2 | layout) + std::string(entry.name));
  }
  write_file_and_folder(folder / "fields", std::string(64, '\0'));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  try {
    const fs::path folder = argv[1];
    const std::size_t calls = write_corpus(folder / "calls", production_calls());
    write_pages(folder / "load");
    write_dialects(folder / "dialect");
    fmt::print("{} new calls in {}\n", calls, (folder / "calls").string());
  } catch (const CannotRun& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 3;
  }
  return 0;
}
