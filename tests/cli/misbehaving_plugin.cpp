// Kernels that are right until a call has three tokens or more, and then do to their process whatever a broken kernel can.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "kvproof/kernel.h"

// The example plug-in's kernels, under a name of their own.
#define kvproof_kernels example_kernels
#include "../../examples/plugin/plugin.cpp"
#undef kvproof_kernels

namespace {

using Misbehaviour = void (*)(const kvproof_store_call& call);

struct Kernel {
  const char* name;
  Misbehaviour misbehave;
};

volatile int* volatile null_pointer = nullptr;
volatile bool always = true;

[[gnu::noinline]] int deeper(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return always ? deeper(depth + 1) + frame[0] : 0;
}

void write_to_every_descriptor() {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    static_cast<void>(send(descriptor, "here is nonsense, forty bytes and more of it", 44, MSG_NOSIGNAL | MSG_DONTWAIT));
  }
}

// A process that outlives the kernel's, in a session of its own where no signal to the group reaches it.
void leave_a_process() {
  if (fork() == 0) {
    setsid();
    for (;;) {
      pause();
    }
  }
}

const Kernel misbehaving[] = {
    {"right", nullptr},
    {"writes-null", [](const kvproof_store_call&) { *null_pointer = 1; }},
    {"reads-null", [](const kvproof_store_call&) { static_cast<void>(*null_pointer); }},
    {"aborts", [](const kvproof_store_call&) { std::abort(); }},
    {"exits-0", [](const kvproof_store_call&) { std::exit(0); }},
    {"exits-3", [](const kvproof_store_call&) { _exit(3); }},
    {"loops",
     [](const kvproof_store_call&) {
       while (always) {
       }
     }},
    {"leaves-a-process-and-loops",
     [](const kvproof_store_call&) {
       leave_a_process();
       while (always) {
       }
     }},
    {"throws", [](const kvproof_store_call&) { throw std::runtime_error("no such tile"); }},
    {"throws-7", [](const kvproof_store_call&) { throw 7; }},
    {"bad-alloc", [](const kvproof_store_call&) { throw std::bad_alloc(); }},
    {"takes-all-memory",
     [](const kvproof_store_call&) {
       while (always) {
         std::memset(std::malloc(std::size_t{1} << 20), 1, std::size_t{1} << 20);
       }
     }},
    {"closes-all",
     [](const kvproof_store_call&) {
       for (int descriptor = 0; descriptor < 1024; ++descriptor) {
         close(descriptor);
       }
     }},
    {"ends-its-group",
     [](const kvproof_store_call&) {
       kill(0, SIGTERM);
       pause();
     }},
    {"writes-to-descriptors", [](const kvproof_store_call&) { write_to_every_descriptor(); }},
    {"overflows-the-stack", [](const kvproof_store_call&) { static_cast<void>(deeper(0)); }},
    {"says-why",
     [](const kvproof_store_call&) {
       std::printf("tile 3 has no owner\n");
       std::abort();
     }},
    // What a kernel may do: print more than a pipe holds, be slow, have no standard descriptors, leave a process that must
    // not outlive kvproof.
    {"floods",
     [](const kvproof_store_call&) {
       for (int i = 0; i < 8000; ++i) {
         std::printf("token %d of many\n", i);
       }
     }},
    {"sleeps", [](const kvproof_store_call&) { usleep(5000); }},
    {"closes-standard",
     [](const kvproof_store_call&) {
       for (int descriptor = 0; descriptor < 3; ++descriptor) {
         close(descriptor);
       }
     }},
    {"leaves-a-process",
     [](const kvproof_store_call&) {
       static bool left = false;
       if (!left) {
         left = true;
         leave_a_process();
       }
     }},
};

std::int32_t store_and_misbehave(void* state, const kvproof_store_call* call, const char** message) {
  const auto* kernel = static_cast<const Kernel*>(state);
  if (call->tokens >= 3 && kernel->misbehave != nullptr) {
    kernel->misbehave(*call);
  }
  return store(nullptr, call, message);
}

// Stores whatever the index is, as kernels do that trust their caller.
std::int32_t store_unguarded(void*, const kvproof_store_call* call, const char**) {
  const auto place = call->layout == KVPROOF_LAYOUT_FLASHMLA ? store_flashmla : store_indexer;
  for (std::int64_t token = 0; token < call->tokens; ++token) {
    const std::int64_t index = index_of(*call, token);
    if (index < 0 || index >= 1000000) {
      // Only what lies far outside: nearer indices are caught by their stray bytes.
      if (index >= -1000000 && index < 0) continue;
    } else if (index >= call->pages * call->page_size) {
      continue;
    }
    place(call->page_size, static_cast<const unsigned char*>(call->input) + token * call->input_row_stride,
          static_cast<Bytes>(call->cache) + index / call->page_size * call->page_stride, index % call->page_size);
  }
  return KVPROOF_STORED;
}

}  // namespace

const kvproof_kernel* kvproof_kernels(std::uint32_t abi_version, std::size_t* count) {
  static std::vector<kvproof_kernel> kernels;
  std::size_t examples = 0;
  const kvproof_kernel* example = example_kernels(abi_version, &examples);
  if (example == nullptr) {
    return nullptr;
  }
  kernels.clear();
  for (const Kernel& one : misbehaving) {
    kvproof_kernel kernel = *example;
    kernel.name = one.name;
    kernel.layouts = KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
    kernel.store = store_and_misbehave;
    kernel.state = const_cast<Kernel*>(&one);
    kernels.push_back(kernel);
  }
  kvproof_kernel far = *example;
  far.name = "far-indices-unguarded";
  far.layouts = KVPROOF_SET(KVPROOF_LAYOUT_FLASHMLA);
  far.store = store_unguarded;
  kernels.push_back(far);
  *count = kernels.size();
  return kernels.data();
}
