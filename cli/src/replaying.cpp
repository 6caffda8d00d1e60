#include "replaying.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "kvproof/device/error.h"
#include "kvproof/properties/describe.h"
#include "kvproof/properties/property.h"

namespace kvproof::cli {
namespace {

template <class T>
bool has(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool has_duplicates(const FiledCase& filed) {
  return std::any_of(filed.expected.begin(), filed.expected.end(),
                     [](const ExpectedRun& run) { return run.any_of.size() > 1; });
}

bool takes(const Subject& subject, const FiledCase& filed) {
  const StoreShape& s = filed.run.shape;
  return subject.dialect == filed.dialect && has(subject.input_types, s.input_type) &&
         has(subject.index_types, s.index_type) && has(subject.fp8_types, s.fp8) &&
         (subject.page_sizes.empty() || has(subject.page_sizes, s.page_size)) &&
         !(subject.duplicates == Duplicates::forbidden && has_duplicates(filed));
}

}  // namespace

std::string replay_command(const std::string& program, const std::filesystem::path& file, const KernelChoice& kernels) {
  return fmt::format("{} replay {}{}", shell_quoted(program), shell_quoted(file.string()), kernels.arguments());
}

Replayer::Replayer(const KernelChoice& choice) : kernels_(choice) {}

int Replayer::run(const FiledCase& filed, const std::string& file) {
  int ran = 0;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const Subject& subject = kernels_.subject(i);
    if (!takes(subject, filed)) {
      continue;
    }
    ++ran;
    ++cases_;
    CaseOutcome outcome = kernels_.runner(i).run_whole(filed.run);
    if (outcome.breach) {
      kernels_.runner(i).name_fault(nullptr, filed.run, *outcome.breach);
    }
    bytes_ += outcome.bytes;
    codes_ += outcome.codes;
    explained_ += outcome.explained;
    if (outcome.explained != 0) {
      fmt::print("{} case {}: {}\n", file, filed.id, subject.title());
      print_explained(outcome.explained, subject.dialect.reciprocal_ulp, outcome.explained_example);
    }
    refused_ += outcome.refused ? 1 : 0;
    if (const auto& breach = outcome.breach) {
      ++broken_;
      fmt::print("FAILS  {} case {}: {}\n    {}\n    call: {}\n", file, filed.id, subject.title(), breach->summary,
                 describe_call(filed.run));
      print_places(*breach);
      Json failure = breach_json(*breach);
      failure["file"] = file;
      failure["case"] = filed.id;
      failure["kernel"] = subject.title();
      failures_.push_back(std::move(failure));
    }
  }
  return ran;
}

int Replayer::conclude(const std::string& json_path, const std::string& command) const {
  const bool nothing = cases_ == refused_;
  fmt::print("{}: {} of {} runs hold ({} refused), {} codes, {} compared on {}\n",
             broken_ != 0 ? "FAILS" : (nothing ? "NOTHING COMPARED" : "holds"), cases_ - broken_ - refused_, cases_,
             refused_, counted(codes_), bytes_counted(bytes_),
             kernels_.devices().empty() ? "no device" : kernels_.devices());
  if (!json_path.empty()) {
    write_json(json_path, {{"kvproof", KVPROOF_VERSION},
                           {"command", command},
                           {"holds", broken_ == 0 && !nothing},
                           {"device", kernels_.devices()},
                           {"runs", cases_},
                           {"refused", refused_},
                           {"codes", codes_},
                           {"bytes", bytes_},
                           {"explained_codes", explained_},
                           {"failures", failures_}});
  }
  return broken_ != 0 ? fails : (nothing ? cannot_run : holds);
}

}  // namespace kvproof::cli
