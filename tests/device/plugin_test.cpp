// Loading plug-ins: the example stores the model's bytes, and what must not load says why in one line.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "kvproof/device/error.h"
#include "kvproof/device/named_kernel.h"
#include "kvproof/device/subject.h"
#include "plugin_folder.h"
#include "pool_comparison.h"

namespace kvproof {
namespace {

template <class Error>
std::string load_error(const std::string& path) {
  try {
    load_plugin(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "loaded";
}

std::string without(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  return at == std::string::npos ? text : text.substr(0, at) + "FILE" + text.substr(at + part.size());
}

TEST(Plugin, example_stores_the_models_bytes) {
  const std::vector<Subject> subjects = load_plugin(plugin_path("example"));
  ASSERT_EQ(subjects.size(), 2U);
  const auto memory = host_memory();
  std::mt19937_64 random(11);
  for (const Subject& subject : subjects) {
    EXPECT_EQ(subject.name, "example");
    EXPECT_EQ(subject.dialect_name, "strict");
    EXPECT_EQ(subject.origin, plugin_path("example"));
    EXPECT_EQ(subject.duplicates, Duplicates::last);
    for (int i = 0; i < 1000; ++i) {
      Trial trial = random_trial(subject.dialect, Fp8::e4m3fn, ElementType::bf16, random);
      trial.index_offset = 0;
      ASSERT_EQ(difference(subject, trial, *memory), "");
    }
  }
}

TEST(Plugin, example_lets_the_last_of_duplicates_win) {
  const auto memory = host_memory();
  std::mt19937_64 random(12);
  for (const Subject& subject : load_plugin(plugin_path("example"))) {
    for (int i = 0; i < 100; ++i) {
      Trial trial = random_trial(subject.dialect, Fp8::e4m3fn, ElementType::bf16, random);
      trial.index_offset = 0;
      trial.indices.assign(trial.indices.size(), 0);
      ASSERT_EQ(difference(subject, trial, *memory), "");
    }
  }
}

TEST(Plugin, a_bare_file_name_is_a_path) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(PLUGIN_FOLDER);
  EXPECT_EQ(load_plugin(std::string("plugin_example") + PLUGIN_SUFFIX).size(), 2U);
  std::filesystem::current_path(before);
}

TEST(Plugin, a_missing_file_is_bad_input) {
  EXPECT_EQ(load_error<BadInput>("no/such/kernel.so"),
            "no/such/kernel.so: no such file: expected a plug-in (a shared library)");
  EXPECT_EQ(load_error<BadInput>(PLUGIN_FOLDER),
            std::string(PLUGIN_FOLDER) + ": is a directory: expected a plug-in (a shared library)");
}

TEST(Plugin, a_file_that_is_no_library_cannot_run) {
  const std::string path = testing::TempDir() + "kvproof_no_library.so";
  std::ofstream(path) << "a text of some length, and no library at all, whatever its name says it is\n"
                      << std::string(200, 'x');
  EXPECT_EQ(without(load_error<CannotRun>(path), path), "FILE: does not load: invalid ELF header");
  std::ofstream(path, std::ios::trunc).close();
  EXPECT_EQ(without(load_error<CannotRun>(path), path), "FILE: does not load: file too short");
  std::filesystem::remove(path);
}

// The example with another machine's number in its ELF header.
TEST(Plugin, a_library_of_another_architecture_cannot_run) {
  std::ifstream original(plugin_path("example"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(original)), std::istreambuf_iterator<char>());
  ASSERT_GT(bytes.size(), 64U);
  bytes[18] = static_cast<char>(0xF3);  // e_machine: RISC-V
  bytes[19] = 0;
  const std::string path = testing::TempDir() + "kvproof_other_machine.so";
  std::ofstream(path, std::ios::binary) << bytes;
  const std::string message = without(load_error<CannotRun>(path), path);
  EXPECT_TRUE(message.starts_with("FILE: does not load: ")) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Plugin, what_is_no_plug_in_cannot_run) {
  const auto error = [](const std::string& name) {
    return without(load_error<CannotRun>(plugin_path(name)), plugin_path(name));
  };
  EXPECT_EQ(error("no_symbol"), "FILE: has no symbol kvproof_kernels: expected a plug-in that exports it");
  EXPECT_EQ(error("other_version"), "FILE: does not speak interface version 1");
  EXPECT_EQ(error("throws"), "FILE: kvproof_kernels threw an exception: no such accelerator");
  EXPECT_EQ(error("throws_unknown"), "FILE: kvproof_kernels threw an exception of an unknown type");
}

TEST(Plugin, a_bad_descriptor_is_bad_input) {
  const auto error = [](const std::string& name) {
    return without(load_error<BadInput>(plugin_path(name)), plugin_path(name));
  };
  EXPECT_EQ(error("no_kernels"), "FILE: 0 kernels: expected at least one descriptor");
  EXPECT_EQ(error("other_size"), "FILE: kernel 0: size is " + std::to_string(sizeof(kvproof_kernel) - 8) + ": expected " +
                                     std::to_string(sizeof(kvproof_kernel)));
  EXPECT_EQ(error("contradicts"),
            "FILE: kernel 0 \"malformed\": dialect is \"vllm-cuda\", which has no layout indexer: expected layout flashmla "
            "alone, or another dialect");
}

TEST(NamedKernel, AFileHasAFolderOrEndsAsSharedLibrariesDo) {
  const struct {
    const char* text;
    const char* file;
    const char* name;
  } each[] = {{"", "", ""},
              {"flashmla", "", "flashmla"},
              {"mine.so", "mine.so", ""},
              {"mine.so.1", "mine.so.1", ""},
              {"mine.so:store", "mine.so", "store"},
              {"./mine:store", "./mine", "store"},
              {"C:/mine.so:store", "C:/mine.so", "store"},
              {"odd:name", "", "odd:name"}};
  for (const auto& [text, file, name] : each) {
    const NamedKernel kernel = named_kernel(text);
    EXPECT_EQ(kernel.file, file) << text;
    EXPECT_EQ(kernel.name, name) << text;
  }
}

}  // namespace
}  // namespace kvproof
