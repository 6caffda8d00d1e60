// Loading a plug-in.
#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <system_error>

#include "kvproof/device/error.h"
#include "kvproof/device/subject.h"

namespace kvproof {
namespace {

// The loader's own words, on one line and without the path, which the message names already.
std::string loader_reason(const std::string& path) {
  const char* text = dlerror();
  std::string reason = text == nullptr ? "no reason given" : text;
  if (reason.starts_with(path + ": ")) {
    reason.erase(0, path.size() + 2);
  }
  for (char& c : reason) {
    c = c == '\n' || c == '\r' ? ' ' : c;
  }
  return reason;
}

std::shared_ptr<void> open_library(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw BadInput(fmt::format("{}: no such file: expected a plug-in (a shared library)", path));
  }
  if (std::filesystem::is_directory(status)) {
    throw BadInput(fmt::format("{}: is a directory: expected a plug-in (a shared library)", path));
  }
  // Absolute, as the loader looks a bare name up elsewhere.
  const std::string absolute = std::filesystem::absolute(path).string();
  void* handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw CannotRun(fmt::format("{}: does not load: {}", path, loader_reason(absolute)));
  }
  return {handle, [](void* library) { dlclose(library); }};
}

// Calls the plug-in; what it throws becomes CannotRun.
const kvproof_kernel* ask(kvproof_kernels_fn kernels, const std::string& path, std::size_t* count) {
  try {
    return kernels(KVPROOF_ABI_VERSION, count);
  } catch (const std::exception& thrown) {
    throw CannotRun(fmt::format("{}: kvproof_kernels threw an exception: {}", path, thrown.what()));
  } catch (...) {
    throw CannotRun(fmt::format("{}: kvproof_kernels threw an exception of an unknown type", path));
  }
}

}  // namespace

std::vector<Subject> load_plugin(const std::string& path) {
  const std::shared_ptr<void> library = open_library(path);
  void* symbol = dlsym(library.get(), "kvproof_kernels");
  if (symbol == nullptr) {
    throw CannotRun(fmt::format("{}: has no symbol kvproof_kernels: expected a plug-in that exports it", path));
  }
  std::size_t count = 0;
  const kvproof_kernel* kernels = ask(reinterpret_cast<kvproof_kernels_fn>(symbol), path, &count);
  if (kernels == nullptr) {
    throw CannotRun(fmt::format("{}: does not speak interface version {}", path, KVPROOF_ABI_VERSION));
  }
  return subjects_of(kernels, count, path, library);
}

}  // namespace kvproof
