// A store into plain heap memory, each buffer an allocation of exactly its size, so that AddressSanitizer sees the first
// byte beyond any of them; then every byte of the pool against the model.
#pragma once

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
  void expect(const FuzzCall& call);

  CaseMaker maker_;
  Case case_;
  std::vector<std::uint8_t> poison_;  // as many bytes as the largest pool so far
  std::vector<std::uint8_t> expected_;
};

}  // namespace kvproof::fuzz
