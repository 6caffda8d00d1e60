#include "kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "kvproof/device/error.h"
#include "kvproof/device/memory.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/names.h"

namespace kvproof::cli {
namespace {

struct Named {
  std::string file;  // empty for a built-in kernel
  std::string name;  // empty for any
};

// FILE.so, FILE.so:NAME or NAME.
Named split(const std::string& kernel) {
  const std::size_t colon = kernel.rfind(':');
  const auto is_file = [](const std::string& text) {
    return text.find('/') != std::string::npos || text.ends_with(".so") || text.find(".so.") != std::string::npos;
  };
  if (colon != std::string::npos && is_file(kernel.substr(0, colon))) {
    return {kernel.substr(0, colon), kernel.substr(colon + 1)};
  }
  return is_file(kernel) ? Named{kernel, ""} : Named{"", kernel};
}

// Keeps the subjects that `wanted` holds for; when none are left, says what there was, as `told` tells it.
template <class Wanted, class Told>
void keep(std::vector<Subject>& subjects, const std::string& what, const std::string& value, Wanted wanted, Told told) {
  std::set<std::string> known;
  for (const Subject& subject : subjects) {
    known.insert(std::string(told(subject)));
  }
  std::erase_if(subjects, [&](const Subject& subject) { return !wanted(subject); });
  if (subjects.empty()) {
    std::string all;
    for (const std::string& one : known) {
      all += all.empty() ? "" : ", ";
      all += one;
    }
    throw BadInput(fmt::format("{} {}: expected one of {}", what, value, all));
  }
}

std::vector<Subject> builtin(const std::string& device) {
  const std::string absence = cuda_absence();
  if (device == "cuda") {
    if (!absence.empty()) {
      throw CannotRun(fmt::format("--device cuda: no GPU: {}", absence));
    }
    return builtin_cuda_subjects();
  }
  return device == "auto" && absence.empty() ? builtin_cuda_subjects() : builtin_host_subjects();
}

std::vector<Subject> of_plugin(const std::string& file, const std::string& device) {
  std::vector<Subject> subjects = load_plugin(file);
  const std::string absence = cuda_absence();
  const auto runs_here = [&](const Subject& subject) { return subject.memory != MemoryKind::cuda || absence.empty(); };
  if (device != "auto") {
    const MemoryKind wanted = device == "cuda" ? MemoryKind::cuda : MemoryKind::host;
    keep(
        subjects, "--device", device,
        [&](const Subject& subject) {
          return subject.memory == wanted || (device == "host" && subject.memory == MemoryKind::own);
        },
        [](const Subject& subject) { return name_of(subject.memory); });
  }
  std::vector<Subject> here;
  std::copy_if(subjects.begin(), subjects.end(), std::back_inserter(here), runs_here);
  if (here.empty()) {
    throw CannotRun(fmt::format("{}: its kernels live in CUDA memory, and there is no GPU: {}", file, absence));
  }
  return here;
}

}  // namespace

void KernelChoice::add_to(CLI::App& command) {
  command.add_option("--kernel", kernel,
                     "Kernel under test: NAME of a built-in one, FILE.so, or FILE.so:NAME (default: all built-in)");
  command.add_option("--layout", layout, "Only this layout: " + names_of<Layout>());
  command.add_option("--dialect", dialect, "Only this dialect: " + dialect_names() + ", custom");
  command.add_option("--device", device, "auto (the GPU if there is one, for built-in kernels), cuda, host")
      ->check(CLI::IsMember({"auto", "cuda", "host"}))
      ->capture_default_str();
}

std::string KernelChoice::arguments() const {
  std::string all;
  if (!kernel.empty()) {
    all += " --kernel " + kernel;
  }
  if (device != "auto") {
    all += " --device " + device;
  }
  return all;
}

std::vector<Subject> KernelChoice::subjects() const {
  if (!layout.empty() && !named<Layout>(layout)) {
    throw BadInput(fmt::format("--layout {}: expected {}", layout, names_of<Layout>()));
  }
  const Named chosen = split(kernel);
  std::vector<Subject> all = chosen.file.empty() ? builtin(device) : of_plugin(chosen.file, device);
  if (!chosen.name.empty()) {
    keep(
        all, "--kernel", chosen.name, [&](const Subject& subject) { return subject.name == chosen.name; },
        [](const Subject& subject) { return subject.name; });
  }
  if (!layout.empty()) {
    const Layout wanted = *named<Layout>(layout);
    keep(
        all, "--layout", layout, [&](const Subject& subject) { return subject.dialect.layout == wanted; },
        [](const Subject& subject) { return name_of(subject.dialect.layout); });
  }
  if (!dialect.empty()) {
    keep(
        all, "--dialect", dialect, [&](const Subject& subject) { return subject.dialect_name == dialect; },
        [](const Subject& subject) { return subject.dialect_name; });
  }
  return all;
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
