// kvproof selftest: the planted defects against the checker, and the checker against correct kernels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "commands.h"
#include "companion.h"
#include "kernel_choice.h"
#include "kvproof/device/error.h"
#include "kvproof/device/memory.h"
#include "kvproof/properties/examination.h"
#include "kvproof/properties/parse_json.h"
#include "kvproof/properties/planted_defects.h"
#include "kvproof/properties/worker.h"
#include "kvproof/reference/names.h"
#include "option_values.h"
#include "progress.h"
#include "report.h"
#include "worker_command.h"

namespace kvproof::cli {
namespace {

constexpr int matrix_version = 2;
// Cases of each property, of a planted kernel: so many that what sees a defect under one seed sees it under the next, and
// the matrix does not drift.
constexpr int planted_cases = 100;

struct Options {
  bool list = false;
  bool correct_only = false;
  std::string planted;
  std::string device = "host";
  std::vector<std::string> defects;
  std::uint64_t seed = 1;
  int seeds = 1;
  int jobs = 0;  // 0: the number of cores, at most 4 on a GPU
  double budget = 30;
  double case_seconds = 5;
  std::string json;
  std::string matrix;
  std::string against;
};

std::string planted_file(const Options& options) {
  return options.planted.empty() ? companion("planted.so", "../device/planted/planted.so").string() : options.planted;
}

// One kernel to be examined under each seed.
struct Suspect {
  KernelSource source;
  std::size_t position = 0;
  Subject subject;
  const PlantedDefect* defect = nullptr;  // null: a correct kernel
  std::vector<Examination> found;

  bool caught_always() const {
    return !found.empty() && std::all_of(found.begin(), found.end(), [](const Examination& one) { return one.caught(); });
  }

  // By each detector, under every seed.
  std::vector<bool> seen_always() const {
    std::vector<bool> seen(detectors().size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      seen[i] = std::all_of(found.begin(), found.end(), [i](const Examination& one) { return one.seen[i]; });
    }
    return seen;
  }

  std::string layout() const { return std::string(name_of(subject.dialect.layout)); }
};

// What became of one defect.
struct Entry {
  const PlantedDefect* defect = nullptr;
  std::vector<const Suspect*> kernels;
  std::vector<bool> seen;  // by each detector, under every seed, on some kernel
  bool caught = true;      // each kernel, under every seed
  double slowest = 0;      // seconds until the first catch
};

Entry entry_of(const PlantedDefect& defect, const std::vector<Suspect>& suspects) {
  Entry entry;
  entry.defect = &defect;
  entry.seen.assign(detectors().size(), false);
  for (const Suspect& suspect : suspects) {
    if (suspect.defect != &defect) {
      continue;
    }
    entry.kernels.push_back(&suspect);
    entry.caught = entry.caught && suspect.caught_always();
    const std::vector<bool> seen = suspect.seen_always();
    for (std::size_t i = 0; i < seen.size(); ++i) {
      entry.seen[i] = entry.seen[i] || seen[i];
    }
    for (const Examination& one : suspect.found) {
      entry.slowest = std::max(entry.slowest, one.seconds);
    }
  }
  entry.caught = entry.caught && !entry.kernels.empty();
  return entry;
}

std::vector<std::string> names_of(const std::vector<bool>& seen) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) {
      names.emplace_back(detectors()[i].name);
    }
  }
  return names;
}

class Selftest {
 public:
  explicit Selftest(const Options& options)
      : options_(options), file_(planted_file(options)), defects_(planted_defects(file_)) {
    std::erase_if(defects_,
                  [&](const PlantedDefect& one) { return !(options.device == "cuda" ? one.on_cuda : one.on_host); });
  }

  int list() const {
    for (const PlantedDefect& defect : defects_) {
      fmt::print("{}\n", defect.name);
    }
    return holds;
  }

  int work() {
    expect_writable(options_.json);
    expect_writable(options_.matrix);
    const auto start = std::chrono::steady_clock::now();
    if (!options_.against.empty()) {
      read_matrix();
    }
    choose();
    examine_all();
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    print_matrix();
    print_correct();
    compare();
    print_totals();
    if (!options_.json.empty()) {
      write_json(options_.json, json());
    }
    if (!options_.matrix.empty()) {
      write_json(options_.matrix, matrix());
    }
    return complaints_.empty() ? holds : fails;
  }

 private:
  ChildLimits limits() const {
    ChildLimits limits;
    limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(options_.case_seconds * 1e3));
    return limits;
  }

  std::shared_ptr<Worker> worker_for(const KernelSource& source) const {
    return std::make_shared<Worker>(WorkerSetup{{worker_command}, source, limits()});
  }

  // The planted kernels of the chosen defects, then the correct ones: those of the plug-in and the production kernels.
  void choose() {
    if (const std::string absence = options_.device == "cuda" ? cuda_absence() : std::string{}; !absence.empty()) {
      throw CannotRun(fmt::format("--device cuda: no GPU: {}", absence));
    }
    for (const std::string& name : options_.defects) {
      if (std::none_of(defects_.begin(), defects_.end(), [&](const PlantedDefect& one) { return one.name == name; })) {
        throw BadInput(fmt::format("--defect {}: no planted defect of the {} has this name (see kvproof selftest --list)",
                                   name, options_.device));
      }
    }
    for (const KernelSource& source : {KernelSource{file_, options_.device}, KernelSource{"", options_.device}}) {
      const std::vector<Subject> subjects = worker_for(source)->subjects();
      for (std::size_t i = 0; i < subjects.size(); ++i) {
        const auto defect = std::find_if(defects_.begin(), defects_.end(),
                                         [&](const PlantedDefect& one) { return one.name == subjects[i].name; });
        Suspect suspect{source, i, subjects[i], nullptr, {}};
        if (!source.file.empty() && defect != defects_.end()) {
          suspect.defect = &*defect;
        }
        if (chosen(suspect)) {
          suspects_.push_back(std::move(suspect));
        }
      }
    }
  }

  bool chosen(const Suspect& suspect) const {
    if (suspect.defect == nullptr) {
      return options_.defects.empty();
    }
    const auto& names = options_.defects;
    return !options_.correct_only &&
           (names.empty() || std::find(names.begin(), names.end(), suspect.defect->name) != names.end());
  }

  int jobs() const {
    if (options_.jobs != 0) {
      return options_.jobs;
    }
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return options_.device == "cuda" ? std::min(cores, 4) : cores;
  }

  void examine_all() {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    std::exception_ptr error;
    std::mutex guard;
    const auto work = [&] {
      for (std::size_t i = next++; i < suspects_.size(); i = next++) {
        try {
          examine_one(suspects_[i]);
          const std::lock_guard lock(guard);
          progress_.show(fmt::format("{} of {} kernels: {}", i + 1, suspects_.size(), suspects_[i].subject.title()));
        } catch (...) {
          const std::lock_guard lock(guard);
          error = std::current_exception();
          next = suspects_.size();
        }
      }
    };
    for (int i = 0; i < jobs(); ++i) {
      threads.emplace_back(work);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    progress_.clear();
    if (error) {
      std::rethrow_exception(error);
    }
  }

  // A process for each kernel and seed, so that one which quietly spoils its memory spoils no other verdict.
  void examine_one(Suspect& suspect) const {
    for (int i = 0; i < options_.seeds; ++i) {
      const auto runner = run_in_child(worker_for(suspect.source), suspect.position);
      ExaminationOptions examination;
      examination.seed = options_.seed + static_cast<std::uint64_t>(i);
      examination.budget = std::chrono::duration<double>(options_.budget);
      examination.large_shapes = suspect.defect == nullptr && i == 0;
      examination.insist = suspect.defect != nullptr;
      examination.proof = suspect.defect != nullptr || i == 0;
      if (suspect.defect != nullptr) {
        examination.cases = planted_cases;
      }
      suspect.found.push_back(examine(*runner, suspect.subject, examination));
    }
  }

  void print_matrix() {
    if (options_.correct_only) {
      return;
    }
    for (const Detector& detector : detectors()) {
      fmt::print("{}  {:<18} {}\n", detector.letter, detector.name, detector.sees);
    }
    fmt::print("\n");
    std::string kind;
    for (const PlantedDefect& defect : defects_) {
      Entry entry = entry_of(defect, suspects_);
      if (entry.kernels.empty()) {
        if (options_.defects.empty()) {
          complain("{}: no kernel of the plug-in has this defect's name", defect.name);
        }
        continue;
      }
      Examination marks;
      marks.seen = entry.seen;
      fmt::print("{} {:<10} {:<30} {:>7.2f} s  {}{}\n", marks.letters(), defect.kind, defect.name, entry.slowest,
                 defect.defect, defect.reenacts.empty() ? "" : fmt::format(" [{}]", defect.reenacts));
      for (const Suspect* kernel : entry.kernels) {
        if (!kernel->caught_always()) {
          const auto missed =
              std::find_if(kernel->found.begin(), kernel->found.end(), [](const Examination& one) { return !one.caught(); });
          complain("{}: not caught by any property in {:.0f} s{}", kernel->subject.title(), missed->seconds,
                   missed->proof_fails ? ", by the proof alone" : "");
        }
      }
      entries_.push_back(std::move(entry));
    }
  }

  void print_correct() {
    std::int64_t kernels = 0;
    std::int64_t cases = 0;
    for (const Suspect& suspect : suspects_) {
      if (suspect.defect != nullptr) {
        continue;
      }
      ++kernels;
      for (std::size_t i = 0; i < suspect.found.size(); ++i) {
        const Examination& found = suspect.found[i];
        cases += found.cases;
        if (found.accused()) {
          ++accused_;
          complain("{} is accused though it is correct, seed {}: {}: {}", suspect.subject.title(), options_.seed + i,
                   found.caught() ? found.property : "proof", found.summary);
        } else if (found.codes == 0) {
          complain("{}: no code was compared", suspect.subject.title());
        }
      }
    }
    correct_ = kernels;
    correct_cases_ = cases;
  }

  // Of a committed matrix: what was caught, by which detectors.
  void read_matrix() {
    std::ifstream file(options_.against);
    if (!file) {
      throw BadInput(fmt::format("--against {}: it cannot be read", options_.against));
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Json given = parse_json(text, "--against " + options_.against);
    if (!given.is_object() || given.value("schema_version", Json()) != matrix_version || !given.contains("defects") ||
        !given["defects"].is_object()) {
      throw BadInput(fmt::format("--against {}: expected a matrix of schema_version {}, as --matrix writes it",
                                 options_.against, matrix_version));
    }
    if (const Json device = given.value("device", Json("none")); device != options_.device) {
      throw BadInput(fmt::format("--against {}: a matrix of device {}, expected {}", options_.against,
                                 device.is_string() ? device.get<std::string>() : device.dump(), options_.device));
    }
    for (const auto& [name, layouts] : given["defects"].items()) {
      if (!layouts.is_object()) {
        throw BadInput(
            fmt::format("--against {}: defect {}: expected lists of detectors by layout", options_.against, name));
      }
      for (const auto& [layout, caught_by] : layouts.items()) {
        read_cell(name, layout, caught_by);
      }
    }
  }

  void read_cell(const std::string& name, const std::string& layout, const Json& caught_by) {
    if (!caught_by.is_array()) {
      throw BadInput(
          fmt::format("--against {}: defect {}: {}: expected a list of detectors", options_.against, name, layout));
    }
    std::set<std::string>& before = known_[name][layout];  // also where no one detector saw it under every seed
    for (const auto& detector : caught_by) {
      const std::string wanted = detector.is_string() ? detector.get<std::string>() : detector.dump();
      if (std::none_of(detectors().begin(), detectors().end(), [&](const Detector& one) { return one.name == wanted; })) {
        throw BadInput(fmt::format("--against {}: defect {}: no detector is named {}", options_.against, name, wanted));
      }
      before.insert(wanted);
    }
  }

  void compare() {
    if (options_.against.empty() || options_.correct_only) {
      return;
    }
    std::set<std::string> met;
    for (const Entry& entry : entries_) {
      met.insert(entry.defect->name);
      const auto before = known_.find(entry.defect->name);
      if (before == known_.end()) {
        complain("{}: the matrix {} does not have it, renew it with --matrix", entry.defect->name, options_.against);
        continue;
      }
      compare(entry, before->second);
    }
    if (options_.defects.empty()) {
      for (const auto& [name, caught_by] : known_) {
        if (!met.contains(name)) {
          complain("{}: in the matrix {} and no longer planted", name, options_.against);
        }
      }
    }
  }

  // One layout may lose what the other keeps.
  void compare(const Entry& entry, const std::map<std::string, std::set<std::string>>& before) {
    std::map<std::string, std::vector<std::string>> now;
    for (const Suspect* kernel : entry.kernels) {
      now[kernel->layout()] = names_of(kernel->seen_always());
      if (!before.contains(kernel->layout())) {
        complain("{}: the matrix {} does not have its {} kernel, renew it with --matrix", entry.defect->name,
                 options_.against, kernel->layout());
      }
    }
    for (const auto& [layout, caught_by] : before) {
      for (const std::string& detector : caught_by) {
        if (const auto& seen = now[layout]; std::find(seen.begin(), seen.end(), detector) == seen.end()) {
          complain("{}: {} caught its {} kernel before and does not now", entry.defect->name, detector, layout);
        }
      }
    }
  }

  void print_totals() const {
    const auto caught = std::count_if(entries_.begin(), entries_.end(), [](const Entry& one) { return one.caught; });
    fmt::print("\n");
    for (const std::string& complaint : complaints_) {
      fmt::print("FAILS {}\n", complaint);
    }
    const std::string seeds =
        options_.seeds == 1
            ? fmt::format("seed {}", options_.seed)
            : fmt::format("seeds {} to {}", options_.seed, options_.seed + static_cast<std::uint64_t>(options_.seeds) - 1);
    fmt::print("{}: {} of {} planted defects caught; {} correct kernels, {} cases, {} accusations; {}, {}, {:.1f} s\n",
               complaints_.empty() ? "holds" : "FAILS", caught, entries_.size(), correct_, correct_cases_, accused_, seeds,
               options_.device, seconds_);
  }

  // Where threads decide what a run shows, the matrix holds no detector to seeing it, and selftest itself that one does.
  bool by_chance(const Entry& entry) const {
    return options_.device == "cuda" ? entry.defect->by_chance_on_cuda : entry.defect->by_chance_on_host;
  }

  Json matrix() const {
    Json defects = Json::object();
    for (const Entry& entry : entries_) {
      Json& layouts = defects[entry.defect->name] = Json::object();
      for (const Suspect* kernel : entry.kernels) {
        layouts[kernel->layout()] = by_chance(entry) ? std::vector<std::string>{} : names_of(kernel->seen_always());
      }
    }
    return {{"schema_version", matrix_version}, {"device", options_.device}, {"defects", std::move(defects)}};
  }

  Json json() const {
    Json defects = Json::array();
    for (const Entry& entry : entries_) {
      Json kernels = Json::array();
      for (const Suspect* suspect : entry.kernels) {
        for (const Examination& found : suspect->found) {
          kernels.push_back({{"layout", name_of(suspect->subject.dialect.layout)},
                             {"caught", found.caught()},
                             {"seconds", found.seconds},
                             {"property", found.property},
                             {"proof_fails", found.proof_fails},
                             {"summary", found.summary},
                             {"failed", found.failed},
                             {"caught_by", names_of(found.seen)}});
        }
      }
      defects.push_back({{"name", entry.defect->name},
                         {"kind", entry.defect->kind},
                         {"defect", entry.defect->defect},
                         {"reenacts", entry.defect->reenacts},
                         {"caught", entry.caught},
                         {"caught_by", names_of(entry.seen)},
                         {"kernels", std::move(kernels)}});
    }
    Json known = Json::array();
    for (const Detector& detector : detectors()) {
      known.push_back({{"letter", std::string(1, detector.letter)}, {"name", detector.name}, {"sees", detector.sees}});
    }
    return {{"kvproof", KVPROOF_VERSION},
            {"command", "selftest"},
            {"holds", complaints_.empty()},
            {"device", options_.device},
            {"seed", options_.seed},
            {"seeds", options_.seeds},
            {"seconds", seconds_},
            {"detectors", std::move(known)},
            {"defects", std::move(defects)},
            {"correct", {{"kernels", correct_}, {"cases", correct_cases_}, {"accusations", accused_}}},
            {"complaints", complaints_}};
  }

  template <class... Values>
  void complain(fmt::format_string<Values...> text, Values&&... values) {
    complaints_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  const Options& options_;
  std::string file_;
  std::vector<PlantedDefect> defects_;
  std::map<std::string, std::map<std::string, std::set<std::string>>> known_;  // of the matrix to compare with
  std::vector<Suspect> suspects_;
  std::vector<Entry> entries_;
  std::vector<std::string> complaints_;
  std::int64_t correct_ = 0;
  std::int64_t correct_cases_ = 0;
  std::int64_t accused_ = 0;
  double seconds_ = 0;
  Progress progress_;
};

}  // namespace

void add_selftest(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("selftest", "Run the planted defects and correct kernels against the checker");
  command->add_flag("--list", options->list, "Print the names of the planted defects, one a line, and run nothing");
  command->add_option("--defect", options->defects, "Only these planted defects, and no correct kernel")->delimiter(',');
  command->add_flag("--correct-only", options->correct_only, "Only the correct kernels: none may be accused")
      ->excludes("--defect");
  command->add_option("--device", options->device, "host or cuda")
      ->check(CLI::IsMember({"host", "cuda"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "The first seed")->capture_default_str();
  command->add_option("--seeds", options->seeds, "How many seeds; a defect counts as caught where it is under all of them")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--budget", options->budget, "Time until a kernel counts as not caught: seconds, or with s, ms, m or h")
      ->transform(duration())
      ->check(CLI::NonNegativeNumber)
      ->default_str("30s");
  command
      ->add_option("--case-timeout", options->case_seconds,
                   "Time for one case before its kernel counts as one that does not return: seconds, or with s, ms, m or h")
      ->transform(duration())
      ->check(CLI::Range(0.001, 86400.0))
      ->default_str("5s");
  command->add_option("--jobs", options->jobs, "Kernels at a time (default: one a core, at most 4 on a GPU)")
      ->check(CLI::Range(1, 256));
  command->add_option("--against", options->against, "Fail where this matrix has an entry that is no longer caught")
      ->check(CLI::ExistingFile);
  command->add_option("--matrix", options->matrix, "Write the matrix to this file");
  command->add_option("--json", options->json, "Write all results to this file");
  command
      ->add_option("--planted", options->planted, "The plug-in of planted kernels (default: the one installed with kvproof)")
      ->check(CLI::ExistingFile);
  command->footer(
      "Examples:\n"
      "  kvproof selftest\n"
      "  kvproof selftest --defect slot-uint8,pad-writer --json result.json\n"
      "  kvproof selftest --correct-only --seeds 200\n"
      "Exit status: 0 all caught and none accused, 1 not so, 2 bad usage or input, 3 could not run.");
  command->callback([&chosen, options] {
    chosen.work = [options] {
      Selftest selftest(*options);
      return options->list ? selftest.list() : selftest.work();
    };
  });
}

}  // namespace kvproof::cli
