#include "kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>

#include "kvproof/device/error.h"
#include "kvproof/device/memory.h"
#include "kvproof/device/named_kernel.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/names.h"
#include "option_values.h"
#include "report.h"

namespace kvproof::cli {
namespace {

// Keeps the kernels that `wanted` holds for; when none are left, says what there was, as `told` tells it.
template <class Wanted, class Told>
void keep(std::vector<ChosenKernel>& kernels, const std::string& what, const std::string& value, Wanted wanted, Told told) {
  std::set<std::string> known;
  for (const ChosenKernel& kernel : kernels) {
    known.insert(std::string(told(kernel.subject)));
  }
  std::erase_if(kernels, [&](const ChosenKernel& kernel) { return !wanted(kernel.subject); });
  if (kernels.empty()) {
    std::string all;
    for (const std::string& one : known) {
      all += all.empty() ? "" : ", ";
      all += one;
    }
    throw BadInput(fmt::format("{} {}: expected one of {}", what, value, all));
  }
}

std::vector<Subject> builtin(const std::string& device) {
  const std::string absence = device == "host" ? std::string{} : cuda_absence();
  if (device == "cuda") {
    if (!absence.empty()) {
      throw CannotRun(fmt::format("--device cuda: no GPU: {}", absence));
    }
    return builtin_cuda_subjects();
  }
  return device == "auto" && absence.empty() ? builtin_cuda_subjects() : builtin_host_subjects();
}

std::vector<ChosenKernel> numbered(const std::vector<Subject>& all) {
  std::vector<ChosenKernel> kernels;
  for (const Subject& subject : all) {
    kernels.push_back({subject, kernels.size()});
  }
  return kernels;
}

std::vector<Subject> of_plugin(const std::string& file, const std::string& device) {
  std::vector<ChosenKernel> kernels = numbered(load_plugin(file));
  if (device != "auto") {
    const MemoryKind wanted = device == "cuda" ? MemoryKind::cuda : MemoryKind::host;
    keep(
        kernels, "--device", device,
        [&](const Subject& subject) {
          return subject.memory == wanted || (device == "host" && subject.memory == MemoryKind::own);
        },
        [](const Subject& subject) { return name_of(subject.memory); });
  }
  // CUDA is asked for only where a kernel needs it.
  const bool needs_gpu = std::any_of(kernels.begin(), kernels.end(),
                                     [](const ChosenKernel& kernel) { return kernel.subject.memory == MemoryKind::cuda; });
  const std::string absence = needs_gpu ? cuda_absence() : std::string{};
  std::vector<Subject> here;
  for (ChosenKernel& kernel : kernels) {
    if (kernel.subject.memory != MemoryKind::cuda || absence.empty()) {
      here.push_back(std::move(kernel.subject));
    }
  }
  if (here.empty()) {
    throw CannotRun(fmt::format("{}: its kernels live in CUDA memory, and there is no GPU: {}", file, absence));
  }
  if (here.size() < kernels.size()) {
    fmt::print(stderr, "kvproof: {}: {} CUDA kernels are left out, there is no GPU: {}\n", file,
               kernels.size() - here.size(), absence);
  }
  return here;
}

}  // namespace

void KernelChoice::add_to(CLI::App& command) {
  command
      .add_option("--kernel", kernel,
                  "Kernels under test: NAME,... of built-in ones, FILE.so, or FILE.so:NAME,... (default: all built-in)")
      ->check(CLI::Validator([](std::string& text) { return text.empty() ? "empty, expected a kernel" : ""; }, ""));
  command.add_option("--layout", layout, "Only this layout: " + names_of<Layout>());
  command.add_option("--dialect", dialect, "Only this dialect: " + dialect_names() + ", custom");
  command.add_option("--device", device, "auto (the GPU if there is one, for built-in kernels), cuda, host")
      ->check(CLI::IsMember({"auto", "cuda", "host"}))
      ->capture_default_str();
  command
      .add_option("--isolation", isolation,
                  "process: kernels run in a child process, and a crash is a verdict; none: in this one, for a debugger")
      ->check(CLI::IsMember({"process", "none"}))
      ->capture_default_str();
  command
      .add_option("--case-timeout", case_seconds,
                  "Time for one case before its kernel counts as one that does not return: seconds, or with s, ms, m or h")
      ->transform(duration())
      ->check(CLI::Range(0.001, 86400.0))
      ->default_str("10s");
  command
      .add_option("--memory-limit", memory_limit,
                  "Host memory that a kernel may take in one case: bytes, or with KB, MB or GB")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 50))
      ->default_str("8GB");
}

std::string KernelChoice::arguments() const {
  std::string all;
  if (!kernel.empty()) {
    all += " --kernel " + shell_quoted(kernel);
  }
  if (device != "auto") {
    all += " --device " + device;
  }
  const KernelChoice usual;
  if (case_seconds != usual.case_seconds) {
    all += fmt::format(" --case-timeout {}s", case_seconds);
  }
  if (memory_limit != usual.memory_limit) {
    all += fmt::format(" --memory-limit {}", memory_limit);
  }
  return all;
}

KernelSource KernelChoice::source() const { return {named_kernel(kernel).file, device}; }

ChildLimits KernelChoice::limits() const {
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(case_seconds));
  return {time, static_cast<std::int64_t>(memory_limit)};
}

std::vector<Subject> load_kernels(const KernelSource& source) {
  return source.file.empty() ? builtin(source.device) : of_plugin(source.file, source.device);
}

void KernelChoice::check() const {
  if (!layout.empty() && !named<Layout>(layout)) {
    throw BadInput(fmt::format("--layout {}: expected {}", layout, names_of<Layout>()));
  }
}

std::vector<ChosenKernel> KernelChoice::choose(const std::vector<Subject>& all) const {
  std::vector<ChosenKernel> kernels = numbered(all);
  if (const NamedKernel chosen = named_kernel(kernel); !chosen.name.empty()) {
    std::set<std::string> names;
    std::istringstream text(chosen.name);
    for (std::string name; std::getline(text, name, ',');) {
      std::vector<ChosenKernel> of_this_name = kernels;
      keep(
          of_this_name, "--kernel", name, [&](const Subject& subject) { return subject.name == name; },
          [](const Subject& subject) { return subject.name; });
      names.insert(name);
    }
    std::erase_if(kernels, [&](const ChosenKernel& one) { return !names.contains(one.subject.name); });
  }
  if (!layout.empty()) {
    const Layout wanted = *named<Layout>(layout);
    keep(
        kernels, "--layout", layout, [&](const Subject& subject) { return subject.dialect.layout == wanted; },
        [](const Subject& subject) { return name_of(subject.dialect.layout); });
  }
  if (!dialect.empty()) {
    keep(
        kernels, "--dialect", dialect, [&](const Subject& subject) { return subject.dialect_name == dialect; },
        [](const Subject& subject) { return subject.dialect_name; });
  }
  return kernels;
}

std::string name_of(MemoryKind memory) {
  switch (memory) {
    case MemoryKind::cuda:
      return "cuda";
    case MemoryKind::own:
      return "own";
    case MemoryKind::host:
      break;
  }
  return "host";
}

}  // namespace kvproof::cli
