// A worker's kernels may do anything: the parent gets a verdict, a fresh process, and nothing is left behind. This program
// is its own worker.
#include "kvproof/properties/worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "kvproof/device/error.h"
#include "kvproof/device/store_call.h"
#include "kvproof/properties/case_file.h"
#include "kvproof/properties/check.h"
#include "planted.h"

namespace kvproof {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// These crash as a user's kernel does, not as a sanitizer reports it.
[[gnu::no_sanitize("undefined", "address")]] std::int32_t writes_past_three_tokens(void* state,
                                                                                   const kvproof_store_call* call,
                                                                                   const char** message) {
  if (call->tokens >= 3) {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  return planted::right(state, call, message);
}

std::int32_t ends_itself(void*, const kvproof_store_call*, const char**) {
  raise(SIGKILL);
  return KVPROOF_STORED;
}

std::int32_t exits(void*, const kvproof_store_call*, const char**) { _exit(3); }

std::int32_t sleeps_for_ever(void*, const kvproof_store_call*, const char**) {
  for (;;) {
    pause();
  }
}

std::int32_t prints_and_aborts(void*, const kvproof_store_call*, const char**) {
  std::printf("page 7\x1b[31m is full\n");
  std::abort();
}

std::int32_t throws(void*, const kvproof_store_call*, const char**) { throw std::runtime_error("no such page"); }

std::int32_t answers_for_itself(void* state, const kvproof_store_call* call, const char** message) {
  const char nonsense[64] = "a frame of my own";
  static_cast<void>(write(100, nonsense, sizeof nonsense));
  return planted::right(state, call, message);
}

// What a wrong count in a loop over descriptors does: those of the guards are among them, the channel is not.
std::int32_t closes_descriptors(void* state, const kvproof_store_call* call, const char** message) {
  if (call->tokens >= 3) {
    for (int descriptor = 3; descriptor < 100; ++descriptor) {
      close(descriptor);
    }
  }
  return planted::right(state, call, message);
}

// Stores the first row wrongly from its fifth call in a process on.
std::int32_t wears_out(void* state, const kvproof_store_call* call, const char** message) {
  static int calls = 0;
  const std::int32_t status = planted::right(state, call, message);
  const std::int64_t index = call->tokens == 0 ? -1
                                               : index_at(static_cast<const std::uint8_t*>(call->index),
                                                          static_cast<IndexType>(call->index_type), 0);
  if (++calls >= 5 && index >= 0 && index < call->pages * call->page_size) {
    static_cast<std::uint8_t*>(call->cache)[index / call->page_size * call->page_stride +
                                            data_offset(static_cast<Layout>(call->layout), index % call->page_size)] ^= 1;
  }
  return status;
}

// As a kernel built without sanitizers does.
[[gnu::no_sanitize("undefined", "address")]] void crash_in_a_moment() {
  std::this_thread::sleep_for(milliseconds(200));
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

// A thread that it left behind crashes once the kernel has returned, and the process has answered.
std::int32_t crashes_later(void* state, const kvproof_store_call* call, const char** message) {
  std::thread(crash_in_a_moment).detach();
  return planted::right(state, call, message);
}

std::int32_t leaves_its_group(void*, const kvproof_store_call*, const char**) {
  setpgid(0, getpgid(getppid()));
  for (;;) {
    pause();
  }
}

// Its own process stays small.
std::int32_t forks_and_takes_memory(void* state, const kvproof_store_call* call, const char** message) {
  const pid_t child = fork();
  if (child == 0) {
    const std::size_t bytes = std::size_t{3} << 29;
    std::memset(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, bytes);
    pause();
  }
  waitpid(child, nullptr, 0);
  return planted::right(state, call, message);
}

std::int32_t takes_shared_memory(void* state, const kvproof_store_call* call, const char** message) {
  const std::size_t bytes = std::size_t{3} << 29;
  std::memset(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1, bytes);
  return planted::right(state, call, message);
}

// Stores at what the lower 32 bits of an invalid index say, times the bytes of a slot, and then wherever it may lie.
[[gnu::no_sanitize("undefined", "address")]] std::int32_t stores_extremes(void* state, const kvproof_store_call* call,
                                                                          const char** message) {
  planted::right(state, call, message);
  const auto type = static_cast<IndexType>(call->index_type);
  for (std::int64_t token = 0; token < call->tokens; ++token) {
    const std::int64_t index = index_at(static_cast<const std::uint8_t*>(call->index), type, token);
    if (index > INT32_MAX / 2 || index < INT32_MIN / 2) {
      const auto offset = static_cast<std::uint64_t>(index) * 584U;
      *reinterpret_cast<volatile std::uint8_t*>(reinterpret_cast<std::uint64_t>(call->cache) + offset) = 1;
    }
  }
  return KVPROOF_STORED;
}

// Own memory whose device breaks under a kernel that is given more than two tokens.
std::atomic<bool> device_broken = false;

kvproof_memory breakable_memory() {
  kvproof_memory memory{};
  memory.size = sizeof memory;
  memory.allocate = [](void*, std::uint64_t bytes, void** pointer) -> std::int32_t {
    *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *pointer == nullptr ? 1 : 0;
  };
  memory.release = [](void*, void* pointer) -> std::int32_t {
    std::free(pointer);
    return 0;
  };
  const auto copy = [](void*, void* to, const void* from, std::uint64_t bytes) -> std::int32_t {
    if (bytes != 0) {
      std::memcpy(to, from, bytes);
    }
    return device_broken ? 700 : 0;
  };
  memory.copy_in = copy;
  memory.copy_out = copy;
  memory.synchronize = [](void*) -> std::int32_t { return device_broken ? 700 : 0; };
  return memory;
}

std::int32_t breaks_its_device(void* state, const kvproof_store_call* call, const char** message) {
  device_broken = call->tokens > 2;
  return planted::right(state, call, message);
}

// What it left running on another stream breaks the device once the kernel has been judged.
std::int32_t breaks_its_device_later(void* state, const kvproof_store_call* call, const char** message) {
  std::thread([] {
    std::this_thread::sleep_for(milliseconds(200));
    device_broken = true;
  }).detach();
  return planted::right(state, call, message);
}

// A byte that a kernel reads or writes beside what it is given, as far from the end, or from the start, as `away` says.
struct Touch {
  Given which;
  bool past_end;
  std::int64_t away;
  bool write = false;
};

constexpr Touch past_indices{Given::indices, true, 15};
constexpr Touch before_indices{Given::indices, false, 1};
constexpr Touch past_input{Given::input, true, 15};
constexpr Touch before_input{Given::input, false, 1};
constexpr Touch writes_past_input{Given::input, true, 15, true};
constexpr Touch far_past_indices{Given::indices, true, std::int64_t{1} << 30};

bool readable(const volatile std::uint8_t* at) {
  int ends[2];
  if (pipe(ends) != 0) {
    std::abort();
  }
  const bool read = write(ends[1], const_cast<const std::uint8_t*>(at), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return read;
}

// A device that breaks where a touch faults, and tells no address: host memory, which is lost with its descriptors.
template <Touch... touches>
std::int32_t breaks_where_it_touches(void* state, const kvproof_store_call* call, const char** message) {
  const StoreShape shape = shape_of(*call);
  const auto touch = [&](const Touch& one) {
    const bool input = one.which == Given::input;
    auto* begin = static_cast<std::uint8_t*>(const_cast<void*>(input ? call->input : call->index));
    volatile std::uint8_t* at =
        one.past_end ? begin + (input ? shape.input_bytes() : shape.indices_bytes()) + one.away : begin - one.away;
    if (!readable(at)) {
      close_range(3, 99, 0);
    } else if (one.write) {
      *at = static_cast<std::uint8_t>(*at ^ 0xFF);
    }
  };
  if (call->tokens > 0) {
    (touch(touches), ...);
  }
  return planted::right(state, call, message);
}

std::vector<Subject> load(const KernelSource& source) {
  if (source.file == "missing") {
    throw BadInput("missing: no such file");
  }
  if (source.file == "no-device") {
    throw CannotRun("no-device: no GPU");
  }
  if (source.file == "crashes") {
    raise(SIGSEGV);
  }
  if (source.file == "hangs") {
    pause();
  }
  std::vector<Subject> subjects;
  for (const auto& [name, store] : {std::pair<const char*, kvproof_store_fn>{"right", planted::right},
                                    {"code_off_by_one", planted::code_off_by_one},
                                    {"writes_past_three_tokens", writes_past_three_tokens},
                                    {"ends_itself", ends_itself},
                                    {"exits", exits},
                                    {"sleeps_for_ever", sleeps_for_ever},
                                    {"prints_and_aborts", prints_and_aborts},
                                    {"throws", throws},
                                    {"answers_for_itself", answers_for_itself},
                                    {"stores_extremes", stores_extremes},
                                    {"breaks_its_device", breaks_its_device},
                                    {"closes_descriptors", closes_descriptors},
                                    {"breaks_its_device_later", breaks_its_device_later},
                                    {"crashes_later", crashes_later},
                                    {"wears_out", wears_out},
                                    {"leaves_its_group", leaves_its_group},
                                    {"forks_and_takes_memory", forks_and_takes_memory},
                                    {"takes_shared_memory", takes_shared_memory},
                                    {"past_indices", breaks_where_it_touches<past_indices>},
                                    {"before_indices", breaks_where_it_touches<before_indices>},
                                    {"past_input", breaks_where_it_touches<past_input>},
                                    {"before_input", breaks_where_it_touches<before_input>},
                                    {"writes_past_input", breaks_where_it_touches<writes_past_input>},
                                    {"both_ends_of_input", breaks_where_it_touches<before_input, past_input>},
                                    {"past_both", breaks_where_it_touches<past_input, past_indices>},
                                    {"far_past_indices", breaks_where_it_touches<far_past_indices>},
                                    {"refuses_all", planted::refuses_all}}) {
    Subject subject = planted::subject(Layout::flashmla, store);
    subject.name = name;
    if (store == breaks_its_device || store == breaks_its_device_later) {
      subject.memory = MemoryKind::own;
      subject.own_memory = breakable_memory();
    }
    subjects.push_back(subject);
  }
  return subjects;
}

class WorkerTest : public ::testing::Test {
 protected:
  static std::shared_ptr<Worker> worker(const std::string& file = "planted", milliseconds time = milliseconds(10'000)) {
    return std::make_shared<Worker>(WorkerSetup{{"worker"}, {file, "host"}, {time, std::int64_t{1} << 30}});
  }

  static std::size_t position(Worker& worker, const std::string& name) {
    const auto& all = worker.subjects();
    return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), [&](const Subject& s) { return s.name == name; }) -
                                    all.begin());
  }

  static Case small_case(std::int64_t tokens) {
    Draw draw(5);
    CaseFocus focus;
    Case c;
    const Subject subject = planted::subject(Layout::flashmla, planted::right);
    do {
      c = draw_case(draw, subject, focus, 20);
    } while (c.shape.tokens != tokens);
    return c;
  }

  static CaseOutcome run(Worker& worker, const std::string& name, std::int64_t tokens = 4) {
    return worker.run(position(worker, name), nullptr, small_case(tokens));
  }

  static std::string verdict(const std::string& name, milliseconds time = milliseconds(10'000)) {
    const auto one = worker("planted", time);
    const CaseOutcome outcome = run(*one, name);
    EXPECT_FALSE(run(*one, "right").breach) << "after " << name;  // the next case finds a worker that works
    return outcome.breach ? outcome.breach->summary : "no breach";
  }

  // Of a kernel that goes wrong only once its first case is over.
  static std::string verdict_on_the_next(Worker& worker, const std::string& name) {
    EXPECT_FALSE(run(worker, name).breach);
    std::this_thread::sleep_for(milliseconds(500));
    const CaseOutcome next = run(worker, name);
    return next.breach ? next.breach->summary : "no breach";
  }
};

TEST_F(WorkerTest, KernelsArriveAsData) {
  const auto one = worker();
  const std::vector<Subject> here = load({"planted", "host"});
  const std::vector<Subject>& there = one->subjects();
  ASSERT_EQ(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(there[i].title(), here[i].title());
    EXPECT_EQ(there[i].dialect, here[i].dialect);
    EXPECT_EQ(there[i].input_types, here[i].input_types);
    EXPECT_EQ(there[i].index_types, here[i].index_types);
    EXPECT_EQ(there[i].fp8_types, here[i].fp8_types);
    EXPECT_EQ(there[i].duplicates, here[i].duplicates);
    EXPECT_EQ(there[i].memory, here[i].memory);
    EXPECT_EQ(there[i].store, nullptr);
  }
  EXPECT_EQ(one->device(0), "host");
}

TEST_F(WorkerTest, OutcomesAreThoseOfThisProcess) {
  const auto one = worker();
  Arena arena(host_memory());
  for (const Subject& subject : load({"planted", "host"})) {
    if (subject.name != "right" && subject.name != "code_off_by_one" && subject.name != "refuses_all") {
      continue;
    }
    const auto here = run_here(arena, subject);
    const auto there = run_in_child(one, position(*one, subject.name));
    Draw draw(11);
    int breaches = 0;
    for (int i = 0; i < 240; ++i) {  // the defect needs one certain code at one place
      const Case c = draw_case(draw, subject, values_exact().focus, 50);
      for (const bool whole : {false, true}) {
        const CaseOutcome a = whole ? here->run_whole(c) : here->run(values_exact(), c);
        const CaseOutcome b = whole ? there->run_whole(c) : there->run(values_exact(), c);
        EXPECT_EQ(a.refused, b.refused);
        EXPECT_EQ(a.refusal, b.refusal);
        EXPECT_EQ(a.codes, b.codes);
        EXPECT_EQ(a.bytes, b.bytes);
        ASSERT_EQ(a.breach.has_value(), b.breach.has_value());
        if (a.breach) {
          ++breaches;
          EXPECT_EQ(a.breach->summary, b.breach->summary);
          EXPECT_EQ(a.breach->places, b.breach->places);
          ASSERT_EQ(a.breach->wrong.size(), b.breach->wrong.size());
          EXPECT_EQ(a.breach->wrong.front().offset, b.breach->wrong.front().offset);
        }
      }
    }
    EXPECT_EQ(breaches > 0, subject.name == "code_off_by_one");
  }
  EXPECT_EQ(one->starts(), 1);
}

TEST_F(WorkerTest, EveryEndIsNamedAndTheNextCaseRuns) {
  EXPECT_EQ(verdict("writes_past_three_tokens"),
            "the kernel crashed: SIGSEGV (Segmentation fault), write at address 0x0, through a null pointer");
  EXPECT_EQ(verdict("ends_itself"), "the kernel was killed: SIGKILL, as a system does that runs out of memory");
  EXPECT_EQ(verdict("exits"), "the kernel called exit(3)");
  EXPECT_EQ(verdict("sleeps_for_ever", milliseconds(200)), "the kernel did not return within 200 ms");
  EXPECT_EQ(verdict("throws"), "the kernel threw: no such page");
  EXPECT_EQ(verdict("answers_for_itself"),
            "the kernel wrote to a file descriptor that is not its own: the channel to kvproof");
  EXPECT_EQ(verdict("breaks_its_device"),
            "the kernel broke the device: memory of breaks_its_device: synchronize returned 700, expected 0");
}

TEST_F(WorkerTest, AProcessThatAKernelHasSpoiltIsItsVerdictAndTheNextCaseRuns) {
  EXPECT_EQ(verdict("closes_descriptors").find("the kernel broke the device: host memory: "), 0U);
  const auto one = worker();
  EXPECT_EQ(verdict_on_the_next(*one, "breaks_its_device_later"),
            "the kernel left its process unable to run another case: memory of breaks_its_device_later: copy_in returned "
            "700, expected 0");
  // Another kernel is not blamed for it.
  std::this_thread::sleep_for(milliseconds(500));
  const CaseOutcome other = run(*one, "breaks_its_device", 1);
  EXPECT_FALSE(other.breach) << other.breach->summary;
  EXPECT_GT(other.bytes, 0);
}

TEST_F(WorkerTest, ABrokenDeviceIsNamedByTheBufferThatMustBeLoose) {
  const auto one = worker();
  for (const auto& [kernel, words] : std::vector<std::pair<std::string, std::string>>{
           {"past_indices", "; it reads past the end of the indices: with memory there the same run breaks nothing"},
           {"before_indices", "; it reads before the start of the indices: with memory there the same run breaks nothing"},
           {"past_input", "; it reads past the end of the input: with memory there the same run breaks nothing"},
           {"before_input", "; it reads before the start of the input: with memory there the same run breaks nothing"},
           {"writes_past_input", "; it writes past the end of the input: with memory there the same run breaks nothing"},
           {"both_ends_of_input",
            "; it reads or writes past the end of the input: with memory there the same run breaks nothing"},
           {"past_both", ""},
           {"far_past_indices", ""},
           {"closes_descriptors", ""}}) {
    const std::size_t at = position(*one, kernel);
    const auto runner = run_in_child(one, at);
    const Case c = small_case(4);
    CaseOutcome outcome = runner->run_whole(c);
    ASSERT_TRUE(outcome.breach) << kernel;
    const std::string unnamed = outcome.breach->summary;
    EXPECT_EQ(unnamed.find("the kernel broke the device: host memory: "), 0U) << unnamed;
    const int starts = one->starts();
    runner->name_fault(nullptr, c, *outcome.breach);
    EXPECT_EQ(outcome.breach->summary, unnamed + words) << kernel;
    EXPECT_EQ(one->starts(), starts + 2) << kernel;
    // Nothing lies loose any more.
    outcome = runner->run_whole(c);
    ASSERT_TRUE(outcome.breach) << kernel;
    EXPECT_EQ(outcome.breach->summary, unnamed);
  }
  // Any other breach stays as it is.
  for (const std::string kernel : {"writes_past_three_tokens", "throws"}) {
    CaseOutcome outcome = run(*one, kernel);
    const std::string before = outcome.breach.value().summary;
    const int starts = one->starts();
    one->name_fault(position(*one, kernel), nullptr, small_case(4), *outcome.breach);
    EXPECT_EQ(outcome.breach->summary, before);
    EXPECT_EQ(one->starts(), starts);
  }
}

TEST_F(WorkerTest, ABrokenDeviceIsNamedOnceForAFailureAndReplays) {
  const auto one = worker();
  const std::size_t at = position(*one, "past_indices");
  const auto runner = run_in_child(one, at);
  CheckOptions options;
  options.seed = 3;
  options.cases = 25;
  options.shrink_budget = std::chrono::duration<double>(0.5);
  options.save = std::filesystem::temp_directory_path() / ("kvproof-worker-test-" + std::to_string(getpid()));
  for (const auto& [property, words] :
       {std::pair<const Property*, std::string>{&values_exact(), "; it reads past the end of the indices: "},
        {&repeated_runs_agree(), "; it reads or writes past the end of the indices: "}}) {
    const PropertyResult result =
        check_property(*runner, one->subjects()[at], *property, options, [](const PropertyResult&) {});
    ASSERT_FALSE(result.holds()) << property->name;
    const std::string& summary = result.failure->breach.summary;
    EXPECT_EQ(summary.find("the kernel broke the device: "), 0U) << summary;
    EXPECT_NE(summary.find(words), std::string::npos) << summary;
    EXPECT_EQ(summary.find("; it "), summary.rfind("; it ")) << summary;
    CheckOptions unnamed = options;
    unnamed.name_fault = false;
    const PropertyResult short_of_it =
        check_property(*runner, one->subjects()[at], *property, unnamed, [](const PropertyResult&) {});
    ASSERT_TRUE(short_of_it.broke_device()) << property->name;
    EXPECT_EQ(short_of_it.failure->breach.summary.find("; it "), std::string::npos);
    const Case filed = read_cases(result.failure->file).cases.front().run;
    CaseOutcome again = runner->run_whole(filed);
    ASSERT_TRUE(again.breach) << property->name;
    runner->name_fault(nullptr, filed, *again.breach);
    EXPECT_NE(again.breach->summary.find("; it reads past the end of the indices: "), std::string::npos);
  }
  std::filesystem::remove_all(options.save);
}

TEST_F(WorkerTest, ACaseThatFailsOnlyAfterOthersIsToldFromOneThatFailsAlone) {
  const auto one = worker();
  CheckOptions options;
  options.cases = 50;
  options.save.clear();
  const auto failure_of = [&](const std::string& kernel) {
    const std::size_t at = position(*one, kernel);
    return check_property(*run_in_child(one, at), one->subjects()[at], values_exact(), options, [](const PropertyResult&) {})
        .failure.value();
  };
  const Failure worn = failure_of("wears_out");
  EXPECT_TRUE(worn.needs_earlier);
  ASSERT_EQ(worn.notes.size(), 1U);
  EXPECT_EQ(worn.notes.front(), "alone, in a process of its own, this case does not fail: it takes the cases before it");
  const Failure alone = failure_of("throws");
  EXPECT_FALSE(alone.needs_earlier);
  EXPECT_TRUE(alone.notes.empty());
  options.run_afresh = false;
  EXPECT_FALSE(failure_of("wears_out").needs_earlier);
}

TEST_F(WorkerTest, AFindingThatCannotBeSavedIsToldAllTheSame) {
  const auto one = worker();
  const std::size_t at = position(*one, "throws");
  CheckOptions options;
  options.cases = 25;
  options.save = "/proc/kvproof";
  const PropertyResult result =
      check_property(*run_in_child(one, at), one->subjects()[at], values_exact(), options, [](const PropertyResult&) {});
  ASSERT_TRUE(result.failure);
  EXPECT_TRUE(result.failure->file.empty());
  ASSERT_EQ(result.failure->notes.size(), 1U);
  EXPECT_EQ(result.failure->notes.front().find("not saved: /proc/kvproof"), 0U) << result.failure->notes.front();
}

TEST_F(WorkerTest, ACrashBetweenTwoCasesIsACrash) {
  const auto one = worker();
  EXPECT_EQ(verdict_on_the_next(*one, "crashes_later"),
            "the kernel crashed: SIGSEGV (Segmentation fault), write at address 0x0, through a null pointer, after it had "
            "returned");
}

TEST_F(WorkerTest, AKernelThatLeavesItsGroupIsEndedAllTheSame) {
  const auto one = worker("planted", milliseconds(200));
  one->subjects();
  const pid_t process = one->process().value();
  const auto start = Clock::now();
  EXPECT_EQ(run(*one, "leaves_its_group").breach->summary, "the kernel did not return within 200 ms");
  EXPECT_LT(Clock::now() - start, milliseconds(5000));
  EXPECT_EQ(kill(process, 0), -1);
}

TEST_F(WorkerTest, MemoryOfProcessesThatItStartsCounts) {
  EXPECT_EQ(verdict("forks_and_takes_memory"), "the kernel ran out of memory: it took more than 1024 MiB");
}

TEST_F(WorkerTest, SharedMemoryCounts) {
  EXPECT_EQ(verdict("takes_shared_memory"), "the kernel ran out of memory: it took more than 1024 MiB");
}

TEST_F(WorkerTest, WhatItPrintedIsShownWithoutControlCharacters) {
  const auto one = worker();
  const CaseOutcome outcome = run(*one, "prints_and_aborts");
  ASSERT_TRUE(outcome.breach);
  EXPECT_EQ(outcome.breach->summary, "the kernel aborted: SIGABRT");
  ASSERT_EQ(outcome.breach->places.size(), 1U);
  EXPECT_EQ(outcome.breach->places.front(), "it printed: page 7?[31m is full");
}

TEST_F(WorkerTest, ASecondHangCostsASecondAtMost) {
  const auto one = worker("planted", milliseconds(1500));
  EXPECT_EQ(run(*one, "sleeps_for_ever").breach->summary, "the kernel did not return within 1500 ms");
  const auto start = Clock::now();
  EXPECT_EQ(run(*one, "sleeps_for_ever").breach->summary,
            "the kernel did not return within 1 s, the limit once another case did not return within 1500 ms");
  EXPECT_LT(Clock::now() - start, milliseconds(1400));
}

TEST_F(WorkerTest, ALargeCaseHasASecondMoreForEach4MiB) {
  const auto one = worker("planted", milliseconds(200));
  Case c = small_case(4);
  c.shape.tokens = 9000;
  c.shape.input_type = ElementType::bf16;
  c.shape.row_stride = 1024;
  c.indices.assign(9000, -1);
  c.input.assign(static_cast<std::size_t>(c.shape.input_bytes()), 0);
  const CaseOutcome outcome = one->run(position(*one, "sleeps_for_ever"), nullptr, c);
  ASSERT_TRUE(outcome.breach);
  EXPECT_EQ(outcome.breach->summary, "the kernel did not return within 2200 ms");
}

TEST_F(WorkerTest, LoadingThatFailsOrEndsTheProcessIsAnError) {
  EXPECT_THROW(worker("missing")->subjects(), BadInput);
  EXPECT_THROW(worker("no-device")->subjects(), CannotRun);
  for (const auto& [file, words] : {std::pair<std::string, std::string>{"crashes", "crashes: the process crashed: SIGSEGV"},
                                    {"hangs", "hangs: the process did not return within 300 ms"}}) {
    const auto one = worker(file, milliseconds(100));
    for (int again = 0; again < 2; ++again) {
      try {
        one->subjects();
        FAIL() << file;
      } catch (const CannotRun& error) {
        EXPECT_EQ(std::string(error.what()).rfind(words, 0), 0U) << error.what();
      }
    }
  }
}

TEST_F(WorkerTest, ACaseOutsideTheContractIsThrownHere) {
  const auto one = worker();
  Case c = small_case(4);
  c.shape.page_stride = 1;
  EXPECT_THROW(one->run(0, nullptr, c), BadInput);
  EXPECT_FALSE(run(*one, "right").breach);
  EXPECT_EQ(one->starts(), 1);
}

TEST_F(WorkerTest, TheProcessEndsWithItsWorker) {
  auto one = worker();
  one->subjects();
  const pid_t process = one->process().value();
  EXPECT_EQ(kill(process, 0), 0);
  one.reset();
  EXPECT_EQ(kill(process, 0), -1);
}

TEST_F(WorkerTest, ACrashShrinksToTheSmallestCallAndReplays) {
  const auto one = worker();
  const std::size_t at = position(*one, "writes_past_three_tokens");
  const auto runner = run_in_child(one, at);
  CheckOptions options;
  options.seed = 3;
  options.cases = 100;
  options.save = std::filesystem::temp_directory_path() / ("kvproof-worker-test-" + std::to_string(getpid()));
  const PropertyResult result =
      check_property(*runner, one->subjects()[at], untouched_bytes_stay(), options, [](const PropertyResult&) {});
  ASSERT_FALSE(result.holds());
  const FiledCase filed = read_cases(result.failure->file).cases.front();
  std::filesystem::remove_all(options.save);
  EXPECT_EQ(filed.run.shape.tokens, 3);
  EXPECT_EQ(runner->run_whole(filed.run).breach->summary, result.failure->breach.summary);
  EXPECT_FALSE(one->run(position(*one, "right"), nullptr, filed.run).breach);
}

TEST_F(WorkerTest, InvalidIndicesReachTheEndsOfTheirType) {
  const auto one = worker();
  const std::size_t at = position(*one, "stores_extremes");
  CheckOptions options;
  options.seed = 4;
  options.cases = 400;
  options.shrink_budget = std::chrono::duration<double>(0.2);
  options.save = std::filesystem::temp_directory_path() / ("kvproof-worker-test-" + std::to_string(getpid()));
  const PropertyResult result = check_property(*run_in_child(one, at), one->subjects()[at], untouched_bytes_stay(), options,
                                               [](const PropertyResult&) {});
  std::filesystem::remove_all(options.save);
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failure->breach.summary.rfind("the kernel crashed: SIGSEGV (Segmentation fault)", 0), 0U)
      << result.failure->breach.summary;
}

// A bench that fails when a promise of speed is broken, with room for a busy machine.
TEST_F(WorkerTest, AChildIsReplacedWithinASecondAndACaseCostsLittle) {
  const auto one = worker();
  const Case c = small_case(4);
  const std::size_t right = position(*one, "right");
  static_cast<void>(one->run(right, nullptr, c));
  constexpr int restarts = 10;
  Clock::duration slowest{};
  Clock::duration all{};
  for (int i = 0; i < restarts; ++i) {
    ASSERT_TRUE(run(*one, "writes_past_three_tokens").breach);
    const auto start = Clock::now();
    ASSERT_FALSE(one->run(right, nullptr, c).breach);
    all += Clock::now() - start;
    slowest = std::max(slowest, Clock::now() - start);
  }
  EXPECT_EQ(one->starts(), restarts + 1);
  EXPECT_LT(slowest, std::chrono::seconds(1));

  constexpr int cases = 500;
  Arena arena(host_memory());
  const auto here = run_here(arena, load({"planted", "host"}).front());
  const auto time = [&](CaseRunner& runner) {
    const auto start = Clock::now();
    for (int i = 0; i < cases; ++i) {
      EXPECT_FALSE(runner.run_whole(c).breach);
    }
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / cases;
  };
  const double in_child = time(*run_in_child(one, right));
  const double in_process = time(*here);
  std::printf("child restart: %.1f ms on average, %.1f ms at most; a case of %lld bytes: %.0f us in a child, %.0f us here\n",
              std::chrono::duration<double, std::milli>(all).count() / restarts,
              std::chrono::duration<double, std::milli>(slowest).count(), static_cast<long long>(c.input.size()), in_child,
              in_process);
  EXPECT_LT(in_child - in_process, 2000);
}

}  // namespace
}  // namespace kvproof

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "worker") {
    return kvproof::serve_cases(std::atoi(argv[2]), kvproof::load);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
