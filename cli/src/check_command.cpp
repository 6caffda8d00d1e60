// kvproof check: everything a kernel must hold.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "commands.h"
#include "kernels.h"
#include "kvproof/device/error.h"
#include "kvproof/properties/check.h"
#include "kvproof/reference/names.h"
#include "option_values.h"
#include "progress.h"
#include "replaying.h"
#include "report.h"

namespace kvproof::cli {
namespace {

constexpr int most_hangs = 3;  // properties in which a kernel may not return before it is asked no more
constexpr int most_named = 3;  // broken devices of a kernel whose buffer is searched for: every search costs processes

struct Options {
  KernelChoice kernels;
  double budget_seconds = 30;
  double shrink_seconds = 5;
  int cases = 0;
  std::string seed;
  std::string json;
  std::string save = "kvproof-failures";
  bool fail_fast = false;
  bool verbose = false;
};

struct Checked {
  Subject subject;
  std::vector<PropertyResult> results;
};

struct Totals {
  std::int64_t cases = 0;
  std::int64_t refused = 0;
  std::int64_t codes = 0;
  std::int64_t bytes = 0;
  std::int64_t explained = 0;
  std::string explained_example;
  int broken = 0;
  int empty = 0;

  void add(const PropertyResult& result) {
    cases += result.cases;
    refused += result.refused;
    codes += result.codes;
    bytes += result.bytes;
    explained += result.explained;
    explained_example = explained_example.empty() ? result.explained_example : explained_example;
    broken += result.holds() ? 0 : 1;
    empty += result.compared_nothing() ? 1 : 0;
  }
};

// ", 3 compared nothing": of properties, where there are any.
std::string compared_nothing_in(int properties) {
  return properties == 0 ? std::string{} : fmt::format(", {} compared nothing", properties);
}

void print_result(const PropertyResult& result) {
  std::string line =
      fmt::format("  {:<35}{:>6} cases {:>6} exercise it  {:>8} codes  {:>9}  {:>6.2f} s", result.property->name,
                  result.cases, result.exercised, counted(result.codes), bytes_counted(result.bytes), result.seconds);
  if (result.refused != 0) {
    line += fmt::format("  {} refused: {}", result.refused, result.refusal);
  }
  fmt::print("{}\n", line);
}

// The check again, from its seed, as a shell takes it.
std::string check_command(const Options& options, const Chosen& chosen, std::uint64_t seed) {
  return fmt::format(
      "{} check --seed 0x{:x}{}{}{}{}", shell_quoted(chosen.program), seed, options.kernels.arguments(),
      options.kernels.dialect.empty() ? "" : " --dialect " + options.kernels.dialect,
      options.kernels.layout.empty() ? "" : " --layout " + options.kernels.layout,
      options.cases == 0 ? fmt::format(" --budget {}s", options.budget_seconds) : fmt::format(" --cases {}", options.cases));
}

void print_failure(const PropertyResult& result, const Options& options, const Chosen& chosen, std::uint64_t seed) {
  if (!result.failure) {
    fmt::print("  {} not asked: {}\n", result.property->name, result.not_asked);
    return;
  }
  const Failure& failure = *result.failure;
  fmt::print("  {} FAILS after {} cases, shrunk in {} steps{}\n", result.property->name, result.cases, failure.shrink_steps,
             failure.shrink_cut ? " (time for shrinking ran out)" : "");
  fmt::print("    {}\n    call: {}\n", failure.breach.summary, failure.call);
  print_places(failure.breach);
  for (const std::string& note : failure.notes) {
    fmt::print("    {}\n", note);
  }
  const bool by_seed = failure.file.empty() || failure.needs_earlier;
  fmt::print("    repeat: {}\n",
             by_seed ? check_command(options, chosen, seed) : replay_command(chosen.program, failure.file, options.kernels));
}

void print_subject(const Checked& checked, const Options& options, const Chosen& chosen, std::uint64_t seed) {
  Totals totals;
  for (const PropertyResult& result : checked.results) {
    totals.add(result);
  }
  const char* word = totals.broken != 0 ? "FAILS" : (totals.empty != 0 ? "EMPTY" : "holds");
  fmt::print("{}  {}: {} properties, {} cases, {} codes, {} compared{}\n", word, checked.subject.title(),
             checked.results.size(), totals.cases, counted(totals.codes), bytes_counted(totals.bytes),
             compared_nothing_in(totals.empty));
  print_explained(totals.explained, checked.subject.dialect.reciprocal_ulp, totals.explained_example);
  for (const PropertyResult& result : checked.results) {
    if (!result.holds()) {
      print_failure(result, options, chosen, seed);
    } else if (options.verbose || result.compared_nothing() || 2 * result.refused > result.cases) {
      print_result(result);
    }
    if (result.compared_nothing()) {
      fmt::print("    compared nothing: no case had {}\n", result.property->exercised_by);
    }
  }
}

Json result_json(const PropertyResult& result) {
  Json json{{"name", result.property->name},
            {"promise", result.property->promise},
            {"holds", result.holds() && !result.compared_nothing()},
            {"compared_nothing", result.compared_nothing()},
            {"cases", result.cases},
            {"exercised", result.exercised},
            {"refused", result.refused},
            {"codes", result.codes},
            {"bytes", result.bytes},
            {"seconds", result.seconds},
            {"explained_codes", result.explained}};
  if (result.explained != 0) {
    json["explained_example"] = result.explained_example;
  }
  if (!result.not_asked.empty()) {
    json["not_asked"] = result.not_asked;
  }
  if (!result.refusal.empty()) {
    json["refusal"] = result.refusal;
  }
  if (result.failure) {
    json["failure"] = breach_json(result.failure->breach);
    json["failure"]["call"] = result.failure->call;
    json["failure"]["notes"] = result.failure->notes;
    json["failure"]["needs_earlier_cases"] = result.failure->needs_earlier;
    if (!result.failure->file.empty()) {
      json["failure"]["file"] = result.failure->file.string();
    }
    json["failure"]["shrink_steps"] = result.failure->shrink_steps;
    json["failure"]["shrink_cut"] = result.failure->shrink_cut;
  }
  return json;
}

class Run {
 public:
  Run(const Options& options, const Chosen& chosen)
      : options_(options), chosen_(chosen), seed_(seed_of(options.seed)), kernels_(options.kernels) {}

  int work() {
    expect_writable(options_.json);
    expect_folder(options_.save);
    const auto start = std::chrono::steady_clock::now();
    const std::chrono::duration<double> budget(options_.budget_seconds);
    std::size_t steps = 0;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      for (const Property& property : properties()) {
        steps += property.applies_to(kernels_.subject(i)) ? 1 : 0;
      }
    }
    CheckOptions check;
    check.seed = seed_;
    check.shrink_budget = std::chrono::duration<double>(options_.shrink_seconds);
    check.save = options_.save;
    if (options_.cases > 0) {
      check.cases = options_.cases;
    }
    std::size_t step = 0;
    for (std::size_t i = 0; i < kernels_.size() && !stopped_; ++i) {
      const Subject& subject = kernels_.subject(i);
      CaseRunner& runner = kernels_.runner(i);
      Checked checked{subject, {}};
      int hangs = 0;
      int broken_devices = 0;
      for (const Property& property : properties()) {
        if (!property.applies_to(subject)) {
          continue;
        }
        // What one property takes beyond its share, the others give up.
        const std::chrono::duration<double> left = budget - (std::chrono::steady_clock::now() - start);
        check.budget = left / static_cast<double>(steps - step);
        check.name_fault = broken_devices < most_named;
        ++step;
        if (hangs == most_hangs) {
          PropertyResult none;
          none.property = &property;
          none.not_asked = fmt::format("the kernel did not return in {} properties before", most_hangs);
          checked.results.push_back(std::move(none));
          totals_.add(checked.results.back());
          continue;
        }
        checked.results.push_back(check_property(runner, subject, property, check, [&](const PropertyResult& so_far) {
          progress_.show(fmt::format("[{}/{}] {} {}: {} cases, {} codes", step, steps, subject.title(), property.name,
                                     so_far.cases, counted(so_far.codes)));
        }));
        hangs += checked.results.back().hung() ? 1 : 0;
        broken_devices += checked.results.back().broke_device() ? 1 : 0;
        totals_.add(checked.results.back());
        stopped_ = options_.fail_fast && !checked.results.back().holds();
        if (stopped_) {
          break;
        }
      }
      kernels_.release(i);
      progress_.clear();
      print_subject(checked, options_, chosen_, seed_);
      std::fflush(stdout);
      checked_.push_back(std::move(checked));
    }
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    print_totals(step, steps);
    if (!options_.json.empty()) {
      write_json(options_.json, json());
    }
    // A check that compared nothing has shown nothing, and must not look like one that passed.
    return totals_.broken != 0 ? fails : (totals_.empty != 0 ? cannot_run : holds);
  }

 private:
  void print_totals(std::size_t asked, std::size_t all) const {
    const char* verdict = totals_.broken != 0 ? "FAILS" : (totals_.empty != 0 ? "NOTHING COMPARED" : "holds");
    fmt::print("\n{}: {} of {} properties hold over {} kernel{}{}{}\n", verdict,
               asked - static_cast<std::size_t>(totals_.broken) - static_cast<std::size_t>(totals_.empty), asked,
               checked_.size(), checked_.size() == 1 ? "" : "s", compared_nothing_in(totals_.empty),
               asked == all ? std::string{} : fmt::format("; --fail-fast left out {}", all - asked));
    fmt::print("compared: {} cases ({} refused), {} codes, {} on {}\n", totals_.cases, totals_.refused,
               counted(totals_.codes), bytes_counted(totals_.bytes), kernels_.devices());
    fmt::print("seed 0x{:x}, {:.1f} s\n", seed_, seconds_);
  }

  Json json() const {
    Json kernels = Json::array();
    for (const Checked& checked : checked_) {
      Json results = Json::array();
      for (const PropertyResult& result : checked.results) {
        results.push_back(result_json(result));
      }
      kernels.push_back({{"name", checked.subject.name},
                         {"origin", checked.subject.origin},
                         {"layout", name_of(checked.subject.dialect.layout)},
                         {"dialect", checked.subject.dialect_name},
                         {"memory", name_of(checked.subject.memory)},
                         {"properties", std::move(results)}});
    }
    return {{"kvproof", KVPROOF_VERSION},
            {"command", "check"},
            {"holds", totals_.broken == 0 && totals_.empty == 0},
            {"device", kernels_.devices()},
            {"seed", fmt::format("0x{:x}", seed_)},
            {"seconds", seconds_},
            {"stopped", stopped_},
            {"compared_nothing", totals_.empty},
            {"cases", totals_.cases},
            {"refused", totals_.refused},
            {"codes", totals_.codes},
            {"bytes", totals_.bytes},
            {"explained_codes", totals_.explained},
            {"kernels", std::move(kernels)}};
  }

  const Options& options_;
  const Chosen& chosen_;
  std::uint64_t seed_;
  Kernels kernels_;
  Progress progress_;
  std::vector<Checked> checked_;
  Totals totals_;
  bool stopped_ = false;  // at the first failure
  double seconds_ = 0;
};

}  // namespace

void add_check(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "Check that kernels store exactly what the model says");
  options->kernels.add_to(*command);
  command
      ->add_option("--budget", options->budget_seconds, "Time for the whole check: seconds, or a number with s, ms, m or h")
      ->transform(duration())
      ->check(positive_number())
      ->capture_default_str();
  command->add_option("--shrink", options->shrink_seconds, "Time for making one failing case smaller, in the same units")
      ->transform(duration())
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--cases", options->cases, "Exactly this many cases a property and kernel, instead of a budget")
      ->check(positive_number());
  command->add_option("--seed", options->seed, "Seed of the generated cases (default: a fresh one, printed)");
  command->add_option("--save", options->save, "Folder for the cases that failed")->capture_default_str();
  command->add_option("--json", options->json, "Write all results, with every wrong byte, to this file");
  command->add_flag("--fail-fast", options->fail_fast, "End at the first property that fails");
  command->add_flag("-v,--verbose", options->verbose, "A line for every property");
  command->footer(
      "Examples:\n"
      "  kvproof check\n"
      "  kvproof check --kernel ./my_kernel.so --budget 2m --json result.json\n"
      "Exit status: 0 holds, 1 a property fails, 2 bad usage or input, 3 could not run.");
  command->callback([&chosen, options] { chosen.work = [&chosen, options] { return Run(*options, chosen).work(); }; });
}

}  // namespace kvproof::cli
