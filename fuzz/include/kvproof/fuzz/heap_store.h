// A store into plain heap memory, each buffer an allocation of exactly its size, so that AddressSanitizer sees the first
// byte beyond any of them; then every byte of the pool against the model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kvproof/fuzz/case_maker.h"

namespace kvproof::fuzz {

class HeapStore {
 public:
  // Of a kernel on the host that lets the last of duplicates win.
  explicit HeapStore(const Subject& subject, const CaseLimits& limits = {}) : maker_(subject, limits) {}

  // What is wrong after the call, or nothing.
  std::optional<std::string> run(const FuzzCall& call);

  // Of the last run.
  const Case& made() const { return case_; }
  const Subject& subject() const { return maker_.subject(); }

 private:
  using Bytes = std::unique_ptr<std::uint8_t[]>;

  Bytes poisoned_pool(std::size_t bytes);
  void keep(const FuzzCall& call, Bytes pool);
  std::optional<std::string> wrong_byte(const FuzzCall& call, const std::uint8_t* pool);
  // Calls `take` with a place of the expected pool, the bytes that belong there and how many.
  template <class Take>
  void each_stored_part(const FuzzCall& call, const Take& take);

  CaseMaker maker_;
  Case case_;
  std::vector<std::uint8_t> poison_;    // as many bytes as the largest pool so far
  std::vector<std::uint8_t> expected_;  // poison, but while a pool is judged
  std::map<std::size_t, Bytes> kept_;   // large pools by size, all poison
};

}  // namespace kvproof::fuzz
