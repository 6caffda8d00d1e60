#include "kvproof/device/child_fault.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

#include "kvproof/device/store_call.h"

namespace kvproof {
namespace {

// The call that runs now, for the handler. One thread runs cases.
FaultReport at_hand;
std::atomic<std::uint64_t> calls{0};
const ChildEnd* reporting = nullptr;

struct Watched {
  kvproof_store_fn store;
  void* state;
  std::shared_ptr<void> library;
};

AddressRange range_of(const void* pointer, std::int64_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  return {begin, begin + static_cast<std::uint64_t>(bytes)};
}

class Running {
 public:
  explicit Running(const kvproof_store_call& call) {
    const StoreShape shape = shape_of(call);
    at_hand.pool = range_of(call.cache, shape.pool_bytes());
    at_hand.input = range_of(call.input, shape.input_bytes());
    at_hand.indices = range_of(call.index, shape.indices_bytes());
    at_hand.in_kernel = 1;
    calls.fetch_add(1, std::memory_order_relaxed);
  }
  ~Running() { at_hand.in_kernel = 0; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

std::int32_t store_watched(void* state, const kvproof_store_call* call, const char** message) {
  const auto& kernel = *static_cast<const Watched*>(state);
  const Running running(*call);
  try {
    return kernel.store(kernel.state, call, message);
  } catch (const std::bad_alloc& thrown) {
    throw KernelThrew(thrown.what(), true);
  } catch (const std::exception& thrown) {
    throw KernelThrew(thrown.what(), false);
#if defined(__GLIBCXX__)
  } catch (const abi::__forced_unwind&) {
    throw;  // the end of a thread, which may not be caught
#endif
  } catch (...) {
    throw KernelThrew("an exception of an unknown type", false);
  }
}

// Only what a handler may call: it reads plain memory and sends.
void on_fault(int signal, siginfo_t* info, [[maybe_unused]] void* context) {
  FaultReport report = at_hand;
  report.signal = signal;
  report.code = info->si_code;
  report.address = reinterpret_cast<std::uint64_t>(info->si_addr);
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  if (signal == SIGSEGV || signal == SIGBUS) {
    report.access = (registers[REG_ERR] & 2) != 0 ? Access::write : Access::read;
  }
  report.stack_pointer = static_cast<std::uint64_t>(registers[REG_RSP]);
#endif
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&report);
  struct {
    FrameHeader header;
    FaultReport report;
  } message{reporting->last(), report};
  message.header.kind = fault_frame;
  message.header.length = sizeof report;
  message.header.checksum = frame_checksum({bytes, sizeof report});
  static_cast<void>(send(reporting->descriptor(), &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT));
  // Once more, now for real: the status that the parent waits for is the fault's own. A signal that another process sent
  // does not come again by itself.
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0) {
    raise(signal);
  }
}

// How far `address` lies from the range, negative before it; 0 inside.
std::int64_t distance(std::uint64_t address, const AddressRange& range) {
  if (address < range.begin) {
    return -static_cast<std::int64_t>(range.begin - address);
  }
  return address >= range.end ? static_cast<std::int64_t>(address - range.end) + 1 : 0;
}

}  // namespace

Subject watched(const Subject& subject) {
  Subject copy = subject;
  const auto kernel = std::make_shared<Watched>(Watched{subject.store, subject.state, subject.library});
  copy.store = &store_watched;
  copy.state = kernel.get();
  copy.library = kernel;
  return copy;
}

std::uint64_t watched_calls() { return calls.load(std::memory_order_relaxed); }

void report_faults(const ChildEnd& channel) {
  reporting = &channel;
  // A stack of its own, so that a kernel which overflows the stack is reported too.
  static std::vector<std::uint8_t> stack(64 * 1024);
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    sigaction(signal, &action, nullptr);
  }
}

std::string describe(const FaultReport& fault) {
  if (fault.signal != SIGSEGV && fault.signal != SIGBUS) {
    return {};
  }
  const char* access = fault.access == Access::write ? "write" : (fault.access == Access::read ? "read" : "access");
  if (fault.code == SI_KERNEL) {
    return "an address that no process can have";  // the hardware does not say which, nor whether it was read or written
  }
  if (fault.code <= 0) {
    return {};  // sent by a process
  }
  constexpr std::int64_t near = 64 * 1024;
  const struct {
    const char* name;
    const AddressRange& range;
  } buffers[] = {{"pool", fault.pool}, {"input", fault.input}, {"indices", fault.indices}};
  const auto nearest = std::min_element(std::begin(buffers), std::end(buffers), [&](const auto& a, const auto& b) {
    return std::abs(distance(fault.address, a.range)) < std::abs(distance(fault.address, b.range));
  });
  if (fault.address < near) {
    return fmt::format("{} at address {:#x}, through a null pointer", access, fault.address);
  }
  const std::int64_t away = distance(fault.address, nearest->range);
  const auto from_stack = static_cast<std::int64_t>(fault.address - fault.stack_pointer);
  if (fault.stack_pointer != 0 && std::abs(from_stack) < near && std::abs(away) > near) {
    return fmt::format("{} at address {:#x}, where the stack overflows", access, fault.address);
  }
  constexpr std::int64_t told = std::int64_t{1} << 42;
  if (fault.pool.begin == 0 || std::abs(away) > told) {
    return fmt::format("{} at address {:#x}", access, fault.address);
  }
  if (away == 0) {
    return fmt::format("{} inside the {}, {} bytes from its front", access, nearest->name,
                       fault.address - nearest->range.begin);
  }
  return away < 0 ? fmt::format("{} {} bytes before the {}", access, -away, nearest->name)
                  : fmt::format("{} {} bytes past the end of the {}", access, away - 1, nearest->name);
}

}  // namespace kvproof
