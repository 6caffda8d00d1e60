// Each defective copy of the example plug-in differs from the model, and where its defect says.
#include <gtest/gtest.h>

#include "plugin_folder.h"
#include "pool_comparison.h"

namespace kvproof {
namespace {

// Two FlashMLA pages of two slots with a tail; token 0 goes to slot 1 of page 1, token 1 nowhere.
Trial small_trial(const Dialect& dialect) {
  Trial trial = dense_trial(dialect, Fp8::e4m3fn, ElementType::bf16, 2, 2);
  trial.shape.pages = 2;
  for (std::uint32_t i = 0; i < 1024; ++i) {
    append_element(trial.input, 0x3F81 + i % 97, ElementType::bf16);  // amax 3.03, not a power of two
  }
  append_index(trial.indices, 3, IndexType::int64);
  append_index(trial.indices, -1, IndexType::int64);
  return trial;
}

std::string defect(const std::string& name) {
  for (const Subject& subject : load_plugin(plugin_path(name))) {
    if (subject.dialect.layout == Layout::flashmla) {
      return difference(subject, small_trial(subject.dialect), *host_memory());
    }
  }
  return "no FlashMLA kernel";
}

void expect_place(const std::string& name, const std::string& place) {
  const std::string found = defect(name);
  EXPECT_NE(found.find(place), std::string::npos) << name << ": " << found;
}

TEST(PluginDefects, the_example_has_none) { EXPECT_EQ(defect("example"), ""); }
TEST(PluginDefects, scale_floor) { expect_place("scale_floor", "page 1 code slot 1 tile 0"); }
TEST(PluginDefects, scale_shifted) { expect_place("scale_shifted", "page 1 scale slot 1 tile 0"); }
TEST(PluginDefects, tail_written) { expect_place("tail_written", "page 1 tail"); }
TEST(PluginDefects, rope_shifted) { expect_place("rope_shifted", "page 1 rope slot 1 tile -1 element 0"); }
TEST(PluginDefects, stride_assumed) { expect_place("stride_assumed", "page 1 code slot 0"); }
TEST(PluginDefects, minus_one_stored) { expect_place("minus_one_stored", "before the pool"); }

}  // namespace
}  // namespace kvproof
