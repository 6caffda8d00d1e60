// kvproof addresses: the proof that no two slots of a pool share a byte, for every pool at once.
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "companion.h"
#include "kvproof/device/error.h"
#include "kvproof/proofs/module.h"
#include "report.h"

namespace kvproof::cli {
namespace {

using proofs::AddressProof;
using proofs::Answer;
using proofs::Query;

AddressProof prove() {
  const std::filesystem::path module = companion("kvproof_solver.so", "kvproof_solver.so");
  void* library = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw CannotRun(fmt::format("the solver does not load, expected kvproof_solver.so and libz3: {}", dlerror()));
  }
  void* symbol = dlsym(library, "kvproof_prove_addresses");
  if (symbol == nullptr) {
    throw CannotRun(fmt::format("{}: expected it to have kvproof_prove_addresses: {}", module.string(), dlerror()));
  }
  AddressProof proof;
  reinterpret_cast<decltype(&kvproof_prove_addresses)>(symbol)(&proof);
  return proof;
}

std::string values_of(const Query& query) {
  std::string text;
  for (const auto& [name, value] : query.values) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

void print(const AddressProof& proof) {
  std::string group;
  int proved = 0;
  int refuted = 0;
  int wrong = 0;
  double seconds = 0;
  for (const Query& query : proof.queries) {
    if (query.group != group) {
      group = query.group;
      fmt::print("{}\n", group);
    }
    fmt::print("  {:<9}{:>8.1f} ms  {}\n", name_of(query.answer), query.seconds * 1e3, query.claim);
    if (!query.values.empty()) {
      fmt::print("  {:<9}{:>8}     at {}\n", "", "", values_of(query));
    }
    if (!query.as_wanted()) {
      fmt::print("  {:<9}{:>8}     expected: {}\n", "", "", name_of(query.wanted));
    }
    proved += query.answer == Answer::proved ? 1 : 0;
    refuted += query.answer == Answer::refuted ? 1 : 0;
    wrong += query.as_wanted() ? 0 : 1;
    seconds += query.seconds;
  }
  fmt::print("{}: {} claims proved, {} refuted, {} other than expected; {}, {:.1f} s\n", proof.holds() ? "holds" : "FAILS",
             proved, refuted, wrong, proof.solver, seconds);
}

Json json_of(const AddressProof& proof) {
  Json queries = Json::array();
  for (const Query& query : proof.queries) {
    Json values = Json::object();
    for (const auto& [name, value] : query.values) {
      values[name] = value;
    }
    queries.push_back({{"group", query.group},
                       {"claim", query.claim},
                       {"answer", name_of(query.answer)},
                       {"expected", name_of(query.wanted)},
                       {"values", std::move(values)},
                       {"seconds", query.seconds}});
  }
  return {{"holds", proof.holds()}, {"solver", proof.solver}, {"queries", std::move(queries)}};
}

}  // namespace

void add_addresses(CLI::App& app, Chosen& chosen) {
  auto json = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("addresses", "Prove the production kernels' address arithmetic with Z3");
  command->add_option("--json", *json, "Write every query and its answer to FILE")->type_name("FILE");
  command->footer("Example:\n  kvproof addresses --json proof.json");
  command->callback([&chosen, json] {
    chosen.work = [json] {
      expect_writable(*json);
      const AddressProof proof = prove();
      print(proof);
      if (!json->empty()) {
        write_json(*json, json_of(proof));
      }
      return proof.holds() ? holds : fails;
    };
  });
}

}  // namespace kvproof::cli
