// kvproof fuzz: guided calls against kernels, every byte judged, each finding made small.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "commands.h"
#include "kernels.h"
#include "kvproof/device/error.h"
#include "kvproof/fuzz/campaign.h"
#include "kvproof/fuzz/corpus_folder.h"
#include "kvproof/fuzz/page_map.h"
#include "kvproof/properties/case_file.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/finding_file.h"
#include "kvproof/reference/names.h"
#include "option_values.h"
#include "progress.h"
#include "replaying.h"
#include "report.h"

namespace kvproof::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  KernelChoice kernels;
  double seconds = 60;
  double minimise_seconds = 5;
  std::int64_t executions = 0;
  std::int64_t findings = 16;
  int jobs = 1;
  std::size_t batch = 64;
  bool unguided = false;
  std::string seed;
  std::string corpus;
  std::string save = "kvproof-findings";
  std::string json;
  std::vector<std::string> keep;
  std::string regressions = "corpus/regressions";
};

// Found cases become regressions: read, held against the model, and put where the tests replay them.
int keep(const Options& options) {
  for (const std::string& name : options.keep) {
    const CaseFile file = read_cases(name);
    for (const FiledCase& filed : file.cases) {
      if (filed.finding.empty()) {
        throw BadInput(
            fmt::format("--keep {}: case {} is no finding, expected one with found_in and finding", name, filed.id));
      }
      confirm_with_model(filed);
    }
    const fs::path kept = fs::path(options.regressions) / fs::path(name).filename();
    save_cases(kept, file);
    fmt::print("{} is kept as {}\n", name, kept.string());
  }
  return holds;
}

// A campaign against one kernel, with what it printed and found.
class KernelRun {
 public:
  KernelRun(Kernels& kernels, std::size_t kernel, const Options& options, const fuzz::CampaignOptions& campaign,
            const Chosen& chosen)
      : kernels_(kernels),
        kernel_(kernel),
        options_(options),
        seed_(campaign.seed),
        chosen_(chosen),
        campaign_(kernels.subject(kernel), campaign) {}

  void work(const std::vector<fuzz::FuzzCall>& seeds) {
    for (const fuzz::FuzzCall& call : seeds) {
      campaign_.seed(call);
    }
    std::vector<std::unique_ptr<CaseRunner>> others;
    for (int job = 1; job < options_.jobs; ++job) {
      others.push_back(kernels_.another(kernel_));
    }
    // Asked here, as what counts devices is not for threads.
    std::vector<CaseRunner*> runners{&kernels_.runner(kernel_)};
    for (const std::unique_ptr<CaseRunner>& other : others) {
      runners.push_back(other.get());
    }
    std::vector<std::exception_ptr> errors(runners.size());
    std::vector<std::thread> threads;
    std::atomic<std::size_t> working = runners.size();
    for (std::size_t job = 0; job < runners.size(); ++job) {
      threads.emplace_back([&, job] {
        try {
          campaign_.work(*runners[job], job, [this](const fuzz::CampaignFinding& finding) { tell(finding); });
        } catch (...) {
          errors[job] = std::current_exception();
          campaign_.stop();
        }
        --working;
      });
    }
    while (working != 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      show_progress();
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    progress_.clear();
    for (const std::exception_ptr& error : errors) {
      if (error) {
        std::rethrow_exception(error);
      }
    }
    seconds_ = campaign_.seconds();
    conclude();
  }

  bool broken() const { return !findings_.empty(); }
  bool compared_nothing() const { return !broken() && campaign_.counts().codes == 0; }
  std::vector<fuzz::FuzzCall> corpus() const { return campaign_.corpus(); }

  Json json() const {
    const fuzz::CampaignCounts counts = campaign_.counts();
    return {{"name", subject().name},
            {"origin", subject().origin},
            {"layout", name_of(subject().dialect.layout)},
            {"dialect", subject().dialect_name},
            {"holds", !broken() && !compared_nothing()},
            {"seconds", seconds_},
            {"executions", counts.executions},
            {"executions_a_second", static_cast<double>(counts.executions) / seconds_},
            {"refused", counts.refused},
            {"features", counts.features},
            {"corpus", counts.corpus},
            {"codes", counts.codes},
            {"bytes", counts.bytes},
            {"findings", findings_}};
  }

 private:
  const Subject& subject() const { return kernels_.subject(kernel_); }

  std::string told() const {
    const fuzz::CampaignCounts counts = campaign_.counts();
    return fmt::format("{} executions ({:.0f} a second), {} features, {} in the corpus, {} findings", counts.executions,
                       static_cast<double>(counts.executions) / std::max(campaign_.seconds(), 1e-3), counts.features,
                       counts.corpus, found_.load());
  }

  void show_progress() {
    const std::string line = fmt::format("{}: {}", subject().title(), told());
    const std::lock_guard lock(output_);
    progress_.show(line);
  }

  fs::path file_of(std::size_t number) const {
    return fs::path(options_.save) / fmt::format("{}-fuzz-{:x}-{}.json", file_stem(subject()), seed_, number);
  }

  void tell(const fuzz::CampaignFinding& finding) {
    const std::lock_guard lock(output_);
    progress_.clear();
    const fs::path file = file_of(++found_);
    save_finding(file, subject(), finding.smallest,
                 fmt::format("fuzzing found that {} leaves other bytes than the model", subject().title()),
                 finding.breach.summary);
    fmt::print("FOUND  {}: {}\n", subject().title(), finding.breach.summary);
    fmt::print("    after {} executions, {:.2f} s; made smaller in {} steps{}\n", finding.execution, finding.seconds,
               finding.steps, finding.cut ? " (its time ran out)" : "");
    fmt::print("    call: {}\n", describe_call(finding.smallest));
    for (const std::string& line : fuzz::page_map(finding.smallest, finding.breach, subject().dialect)) {
      fmt::print("    {}\n", line);
    }
    print_places(finding.breach);
    fmt::print("    repeat: {}\n", replay_command(chosen_.program, file, options_.kernels));
    std::fflush(stdout);
    Json json = breach_json(finding.breach);
    json["call"] = describe_call(finding.smallest);
    json["tokens"] = finding.smallest.shape.tokens;
    json["file"] = file.string();
    json["execution"] = finding.execution;
    json["seconds"] = finding.seconds;
    json["steps"] = finding.steps;
    findings_.push_back(std::move(json));
  }

  void conclude() const {
    const fuzz::CampaignCounts counts = campaign_.counts();
    const char* word = broken() ? "FAILS" : (compared_nothing() ? "EMPTY" : "holds");
    fmt::print("{}  {}: {}; {} codes, {} compared\n", word, subject().title(), told(), counted(counts.codes),
               bytes_counted(counts.bytes));
    if (counts.refused != 0) {
      fmt::print("    {} refused: {}\n", counts.refused, counts.refusal);
    }
    std::fflush(stdout);
  }

  Kernels& kernels_;
  std::size_t kernel_;
  const Options& options_;
  std::uint64_t seed_;
  const Chosen& chosen_;
  fuzz::Campaign campaign_;
  Progress progress_;
  std::mutex output_;
  std::atomic<std::size_t> found_ = 0;
  Json findings_ = Json::array();
  double seconds_ = 0;
};

int fuzz_kernels(const Options& options, const Chosen& chosen) {
  expect_writable(options.json);
  const std::uint64_t seed = seed_of(options.seed);
  std::vector<fuzz::FuzzCall> calls =
      options.corpus.empty() ? std::vector<fuzz::FuzzCall>{} : fuzz::read_corpus(options.corpus);
  if (!options.kernels.isolated() && options.jobs > 1) {
    throw BadInput(fmt::format("--jobs {}: expected 1 with --isolation none", options.jobs));
  }
  Kernels kernels(options.kernels);
  fuzz::CampaignOptions campaign;
  campaign.seed = seed;
  campaign.time = std::chrono::duration<double>(options.seconds / static_cast<double>(kernels.size()));
  campaign.executions = options.executions;
  campaign.findings = static_cast<std::size_t>(options.findings);
  campaign.minimise = std::chrono::duration<double>(options.minimise_seconds);
  campaign.batch = options.batch;
  campaign.guided = !options.unguided;
  std::size_t broken = 0;
  std::size_t empty = 0;
  Json results = Json::array();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    KernelRun run(kernels, i, options, campaign, chosen);
    run.work(calls);
    kernels.release(i);
    broken += run.broken() ? 1 : 0;
    empty += run.compared_nothing() ? 1 : 0;
    results.push_back(run.json());
    if (!options.corpus.empty()) {
      fuzz::write_corpus(options.corpus, run.corpus());
    }
  }
  fmt::print("\n{}: {} of {} kernel{} on {}, seed 0x{:x}\n",
             broken != 0 ? "FAILS" : (empty != 0 ? "NOTHING COMPARED" : "nothing found in any"),
             broken != 0 ? broken : kernels.size(), kernels.size(), kernels.size() == 1 ? "" : "s", kernels.devices(), seed);
  if (!options.json.empty()) {
    write_json(options.json, {{"kvproof", KVPROOF_VERSION},
                              {"command", "fuzz"},
                              {"holds", broken == 0 && empty == 0},
                              {"device", kernels.devices()},
                              {"seed", fmt::format("0x{:x}", seed)},
                              {"guided", !options.unguided},
                              {"jobs", options.jobs},
                              {"batch", options.batch},
                              {"kernels", std::move(results)}});
  }
  return broken != 0 ? fails : (empty != 0 ? cannot_run : holds);
}

}  // namespace

void add_fuzz(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("fuzz", "Look for calls that a kernel stores wrongly, and make them small");
  options->kernels.add_to(*command);
  command->add_option("--time", options->seconds, "Time for all kernels: seconds, or a number with s, ms, m or h")
      ->transform(duration())
      ->check(positive_number())
      ->capture_default_str();
  command->add_option("--executions", options->executions, "At most this many executions a kernel")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  command->add_option("--findings", options->findings, "Leave a kernel after this many different findings")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--minimise", options->minimise_seconds, "Time for making one finding smaller, in the same units")
      ->transform(duration())
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "Processes that run the kernel side by side")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--batch", options->batch, "Calls that one launch runs, where their pools are small enough")
      ->check(CLI::Range(std::size_t{1}, std::size_t{4096}))
      ->capture_default_str();
  command->add_option("--corpus", options->corpus, "Folder of calls to begin with, and to add new ones to");
  command->add_option("--seed", options->seed, "Seed of the calls (default: a fresh one, printed)");
  command->add_flag("--unguided", options->unguided, "Draw every call afresh, to measure what guidance is worth");
  command->add_option("--save", options->save, "Folder for what was found")->capture_default_str();
  command->add_option("--json", options->json, "Write the results, with every wrong byte, to this file");
  command->add_option("--keep", options->keep, "Instead of fuzzing, keep these found cases as regressions");
  command->add_option("--regressions", options->regressions, "Folder that --keep writes to")->capture_default_str();
  command->footer(
      "Examples:\n"
      "  kvproof fuzz --kernel ./my_kernel.so --layout flashmla --time 10m --jobs 4 --corpus my-corpus\n"
      "  kvproof fuzz --keep kvproof-findings/my-kernel-flashmla-strict-fuzz-1-1.json\n"
      "Exit status: 0 nothing found, 1 a kernel is wrong, 2 bad usage or input, 3 could not run.");
  command->callback([&chosen, options] {
    chosen.work = [&chosen, options] { return options->keep.empty() ? fuzz_kernels(*options, chosen) : keep(*options); };
  });
}

}  // namespace kvproof::cli
