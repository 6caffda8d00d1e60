// kvproof prove: whole domains through a kernel, counted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "commands.h"
#include "kernels.h"
#include "kvproof/device/error.h"
#include "kvproof/properties/prove.h"
#include "kvproof/reference/names.h"
#include "progress.h"
#include "replaying.h"
#include "report.h"

namespace kvproof::cli {
namespace {

constexpr std::array all_domains{Domain::scales,     Domain::codes,     Domain::rope,
                                 Domain::non_finite, Domain::positions, Domain::pairs};

struct Options {
  KernelChoice kernels;
  std::string input = "bf16";
  bool input_given = false;
  std::string fp8 = "all";
  std::string index;  // empty: a kernel's types take turns
  std::vector<std::string> domains;
  std::string shard = "1/1";
  int jobs = 0;  // 0: the number of cores
  std::string json;
  std::string save = "kvproof-failures";
};

std::string domain_names() {
  std::string all;
  for (const Domain domain : all_domains) {
    all += all.empty() ? "" : ", ";
    all += name_of(domain);
  }
  return all;
}

std::int64_t number_of(std::string_view text, const std::string& whole) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1) {
    throw BadInput(fmt::format("--shard {}: expected i/n, 1 <= i <= n", whole));
  }
  return number;
}

Shard shard_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string_view all = text;
  Shard shard;
  shard.number = number_of(all.substr(0, slash), text);
  shard.of = slash == std::string::npos ? 0 : number_of(all.substr(slash + 1), text);
  if (shard.number > shard.of) {
    throw BadInput(fmt::format("--shard {}: expected i/n, 1 <= i <= n", text));
  }
  return shard;
}

std::vector<Domain> domains_of(const std::vector<std::string>& names) {
  std::vector<Domain> chosen;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all_domains.begin(), all_domains.end(), [&](Domain one) { return name_of(one) == name; });
    if (found == all_domains.end()) {
      throw BadInput(fmt::format("--domain {}: expected {}", name, domain_names()));
    }
    if (std::find(chosen.begin(), chosen.end(), *found) == chosen.end()) {
      chosen.push_back(*found);
    }
  }
  return chosen.empty() ? std::vector<Domain>(all_domains.begin(), all_domains.end()) : chosen;
}

// The types that are named and that a kernel takes; all of them for "all".
template <class Type>
std::vector<Type> types_of(const char* option, const std::string& name, const std::vector<Type>& taken) {
  if (name == "all") {
    return taken;
  }
  const std::optional<Type> type = named<Type>(name);
  if (!type) {
    throw BadInput(fmt::format("{} {}: expected {} or all", option, name, names_of<Type>()));
  }
  return std::find(taken.begin(), taken.end(), *type) == taken.end() ? std::vector<Type>{} : std::vector<Type>{*type};
}

// 456960 as 456,960.
std::string grouped(std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    text += i != 0 && (digits.size() - i) % 3 == 0 ? "," : "";
    text += digits[i];
  }
  return text;
}

std::string in_words(const ProofPages& pages) {
  return fmt::format("pages of {} token{}, {} bytes apart", pages.size, pages.size == 1 ? "" : "s", grouped(pages.stride));
}

std::string rows_in_words(std::int64_t rows) { return fmt::format("{} row{} a call", grouped(rows), rows == 1 ? "" : "s"); }

const char* word_of(const ProofResult& result) {
  if (result.wanted == 0 && !result.failure) {
    return "no row";  // a shard may have none
  }
  return result.failure ? "FAILS" : (result.compared_nothing() ? "EMPTY" : (result.proved() ? "proved" : "FAILS"));
}

Json result_json(const ProofResult& result) {
  Json json{{"domain", name_of(result.task.domain)},
            {"input", name_of(result.task.input)},
            {"fp8", name_of(result.task.fp8)},
            {"proved", result.proved()},
            {"rows", result.rows},
            {"pairs", result.pairs},
            {"domain_pairs", result.wanted},
            {"codes", result.codes},
            {"explained", result.explained},
            {"bytes", result.bytes},
            {"refused_rows", result.refused},
            {"seconds", result.seconds}};
  if (result.pages.size != 0) {
    json["page_size"] = result.pages.size;
    json["page_stride"] = result.pages.stride;
    json["rows_a_call"] = result.rows_a_call;
  }
  json["index"] = result.task.index ? name_of(*result.task.index) : "turns";
  for (const RefusedCalls& refused : result.refused_calls) {
    json["refused_calls"].push_back(
        {{"rows", refused.rows}, {"kinds_of_pages", refused.kinds_of_pages}, {"refusal", refused.refusal}});
  }
  if (!result.explained_example.empty()) {
    json["explained_example"] = result.explained_example;
  }
  for (const RefusedPages& refused : result.refused_pages) {
    json["refused_pages"].push_back(
        {{"page_size", refused.pages.size}, {"page_stride", refused.pages.stride}, {"refusal", refused.refusal}});
  }
  if (!result.refusal.empty()) {
    json["refusal"] = result.refusal;
  }
  if (result.failure) {
    json["failure"] = {{"summary", result.failure->summary}, {"notes", result.failure->notes}};
    if (!result.failure->file.empty()) {
      json["failure"]["file"] = result.failure->file.string();
    }
  }
  return json;
}

class Run {
 public:
  Run(const Options& options, const Chosen& chosen)
      : options_(options),
        chosen_(chosen),
        shard_(shard_of(options.shard)),
        domains_(domains_of(options.domains)),
        kernels_(options.kernels) {}

  int work() {
    expect_writable(options_.json);
    expect_folder(options_.save);
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::vector<ProofTask>> tasks;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      tasks.push_back(tasks_of(kernels_.subject(i)));
      steps_ += tasks.back().size();
    }
    if (steps_ == 0) {
      throw BadInput(fmt::format("--input {}, --fp8 {}, --index {}, --domain {}: no chosen kernel has such a domain",
                                 options_.input, options_.fp8, options_.index.empty() ? "in turn" : options_.index,
                                 domains_in_words()));
    }
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (!tasks[i].empty()) {
        prove_kernel(i, tasks[i]);
      }
    }
    nothing_ = nothing_ || wanted_ == 0;  // a shard without a row has shown nothing
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    print_totals();
    if (!options_.json.empty()) {
      write_json(options_.json, json());
    }
    return failed_ ? fails : (nothing_ ? cannot_run : holds);
  }

 private:
  std::vector<ProofTask> tasks_of(const Subject& subject) const {
    std::vector<ProofTask> tasks;
    auto inputs = types_of<ElementType>("--input", options_.input, subject.input_types);
    if (inputs.empty() && !options_.input_given) {
      inputs.push_back(subject.input_types.front());
    }
    for (const std::optional<IndexType> index : indices_of(subject)) {
      for (const ElementType input : inputs) {
        add_domains(subject, input, index, tasks);
      }
    }
    return tasks;
  }

  // Taking turns, unless types are named.
  std::vector<std::optional<IndexType>> indices_of(const Subject& subject) const {
    if (options_.index.empty()) {
      return {std::nullopt};
    }
    const auto types = types_of<IndexType>("--index", options_.index, subject.index_types);
    return {types.begin(), types.end()};
  }

  void add_domains(const Subject& subject, ElementType input, std::optional<IndexType> index,
                   std::vector<ProofTask>& tasks) const {
    const auto fp8_types = types_of<Fp8>("--fp8", options_.fp8, subject.fp8_types);
    for (const Fp8 fp8 : fp8_types) {
      for (const Domain domain : domains_) {
        const bool again = domain == Domain::rope && fp8 != fp8_types.front();  // a rope has no fp8
        if (!again && !ProofDomain(domain, subject.dialect, input, fp8).empty()) {
          tasks.push_back({domain, input, fp8, shard_, index});
        }
      }
    }
  }

  void prove_kernel(std::size_t kernel, const std::vector<ProofTask>& tasks) {
    const Subject& subject = kernels_.subject(kernel);
    CaseRunner& runner = kernels_.runner(kernel);
    ProveOptions prove;
    prove.save = options_.save;
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int jobs = options_.jobs != 0 ? options_.jobs : (subject.memory == MemoryKind::host ? cores : 1);
    if (options_.kernels.isolated()) {
      prove.more.assign(static_cast<std::size_t>(jobs - 1), [this, kernel] { return kernels_.another(kernel); });
    }
    fmt::print("{}{}\n", subject.title(), shard_.of == 1 ? "" : fmt::format(", shard {}", options_.shard));
    results_.push_back({kernel, {}});
    way_.clear();
    for (const ProofTask& task : tasks) {
      ++step_;
      const ProofResult result = prove_domain(runner, subject, task, prove, [&](const ProofResult& so_far) {
        progress_.show(fmt::format("[{}/{}] {} {} {}: {} of {} pairs", step_, steps_, subject.title(), name_of(task.domain),
                                   name_of(task.input), grouped(so_far.pairs), grouped(so_far.wanted)));
      });
      progress_.clear();
      print_way(subject, result);
      print(subject, result);
      pairs_ += result.pairs;
      wanted_ += result.wanted;
      explained_ += result.explained;
      failed_ = failed_ || !(result.proved() || result.compared_nothing());
      nothing_ = nothing_ || result.compared_nothing();
      results_.back().second.push_back(result);
      std::fflush(stdout);
    }
    kernels_.release(kernel);
  }

  std::string domains_in_words() const {
    std::string all;
    for (const Domain domain : domains_) {
      all += all.empty() ? "" : ",";
      all += name_of(domain);
    }
    return all;
  }

  static std::string indices_in_words(const Subject& subject, const ProofTask& task) {
    if (task.index || subject.index_types.size() == 1) {
      return fmt::format("{} indices", name_of(task.index.value_or(subject.index_types.front())));
    }
    return "int32 and int64 indices in turn";
  }

  // How the rows of a kernel are stored, where it is not as for the domain before.
  void print_way(const Subject& subject, const ProofResult& result) {
    std::string way;
    for (const RefusedCalls& refused : result.refused_calls) {
      way += fmt::format("  refused {}, in {} kinds of pages: {}\n", rows_in_words(refused.rows), refused.kinds_of_pages,
                         refused.refusal);
    }
    for (const RefusedPages& refused : result.refused_pages) {
      way += fmt::format("  refused {}: {}\n", in_words(refused.pages), refused.refusal);
    }
    if (result.pages.size != 0) {
      way += fmt::format("  in {}; {}; {}\n", in_words(result.pages), indices_in_words(subject, result.task),
                         rows_in_words(result.rows_a_call));
    }
    if (way != way_) {
      way_ = way;
      fmt::print("{}", way);
    }
  }

  void print(const Subject& subject, const ProofResult& result) const {
    fmt::print("  {:<6} {:<10} {} to {:<8} {:>13} of {} pairs, {} codes, {:.2f} s\n", word_of(result),
               name_of(result.task.domain), name_of(result.task.input), name_of(result.task.fp8), grouped(result.pairs),
               grouped(result.wanted), counted(result.codes), result.seconds);
    if (result.compared_nothing()) {
      fmt::print("    nothing was compared: {} rows were refused, in {} kinds of pages: {}\n", result.refused,
                 result.refused_pages.size(), result.refusal);
    }
    if (result.explained != 0) {
      fmt::print("    {} codes explained by the declared error of {} ulp, as {}\n", grouped(result.explained),
                 subject.dialect.reciprocal_ulp, result.explained_example);
    }
    if (const auto& failure = result.failure) {
      fmt::print("    {}\n", failure->summary);
      for (const std::string& note : failure->notes) {
        fmt::print("    {}\n", note);
      }
      fmt::print("    repeat: {}\n", failure->file.empty()
                                         ? prove_command(result.task)
                                         : replay_command(chosen_.program, failure->file, options_.kernels));
    }
  }

  // The command that repeats a proof, as a shell takes it.
  std::string prove_command(const ProofTask& task) const {
    return fmt::format("{} prove --domain {} --input {} --fp8 {}{}{}{}{}", shell_quoted(chosen_.program),
                       name_of(task.domain), name_of(task.input), name_of(task.fp8),
                       task.index ? fmt::format(" --index {}", name_of(*task.index)) : "",
                       shard_.of == 1 ? "" : " --shard " + options_.shard, options_.kernels.arguments(),
                       options_.kernels.dialect.empty() ? "" : " --dialect " + options_.kernels.dialect) +
           (options_.kernels.layout.empty() ? "" : " --layout " + options_.kernels.layout);
  }

  void print_totals() const {
    fmt::print("\n{}: {} pairs of {} on {}{}, {:.1f} s\n", failed_ ? "FAILS" : (nothing_ ? "NOTHING COMPARED" : "proved"),
               grouped(pairs_), grouped(wanted_), kernels_.devices(),
               explained_ == 0 ? "" : fmt::format(", {} codes explained by a declared error", grouped(explained_)),
               seconds_);
  }

  Json json() const {
    Json kernels = Json::array();
    for (const auto& [kernel, results] : results_) {
      const Subject& subject = kernels_.subject(kernel);
      Json domains = Json::array();
      for (const ProofResult& result : results) {
        domains.push_back(result_json(result));
      }
      kernels.push_back({{"name", subject.name},
                         {"origin", subject.origin},
                         {"layout", name_of(subject.dialect.layout)},
                         {"dialect", subject.dialect_name},
                         {"memory", name_of(subject.memory)},
                         {"domains", std::move(domains)}});
    }
    return {{"kvproof", KVPROOF_VERSION},
            {"command", "prove"},
            {"holds", !failed_ && !nothing_},
            {"device", kernels_.devices()},
            {"shard", options_.shard},
            {"seconds", seconds_},
            {"pairs", pairs_},
            {"explained", explained_},
            {"domain_pairs", wanted_},
            {"kernels", std::move(kernels)}};
  }

  const Options& options_;
  const Chosen& chosen_;
  Shard shard_;
  std::vector<Domain> domains_;
  Kernels kernels_;
  Progress progress_;
  std::vector<std::pair<std::size_t, std::vector<ProofResult>>> results_;
  std::string way_;  // said last
  std::size_t step_ = 0;
  std::size_t steps_ = 0;
  std::int64_t pairs_ = 0;
  std::int64_t wanted_ = 0;
  std::int64_t explained_ = 0;
  bool failed_ = false;
  bool nothing_ = false;
  double seconds_ = 0;
};

}  // namespace

void add_prove(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("prove", "Prove kernels over every (amax, x) pair, scale and rope value");
  options->kernels.add_to(*command);
  CLI::Option* input = command->add_option("--input", options->input, "Input type: bf16, fp16, fp32 or all")
                           ->default_str("bf16, or the first that a kernel takes");
  command->add_option("--fp8", options->fp8, "FP8 type: e4m3fn, e4m3fnuz or all that a kernel takes")->capture_default_str();
  command->add_option("--index", options->index, "Index type: int32, int64 or all; each domain once for each")
      ->default_str("the types that a kernel takes, in turn");
  command->add_option("--domain", options->domains, "Only these domains: " + domain_names())->delimiter(',');
  command->add_option("--shard", options->shard, "i/n: only the ith of n equal parts of each domain")->capture_default_str();
  command->add_option("--jobs", options->jobs, "Processes that share a domain (default: one a core on the host, else one)")
      ->check(CLI::Range(1, 256));
  command->add_option("--save", options->save, "Folder for the rows that failed")->capture_default_str();
  command->add_option("--json", options->json, "Write all results to this file");
  command->footer(
      "Examples:\n"
      "  kvproof prove --dialect strict\n"
      "  kvproof prove --kernel ./my_kernel.so --domain codes,scales --shard 1/4\n"
      "Exit status: 0 proved, 1 a pair is wrong or missing, 2 bad usage or input, 3 could not run or compared nothing.");
  command->callback([&chosen, options, input] {
    options->input_given = input->count() != 0;
    chosen.work = [&chosen, options] { return Run(*options, chosen).work(); };
  });
}

}  // namespace kvproof::cli
