// A fault is told by where it lies from the buffers of the call.
#include <gtest/gtest.h>
#include <signal.h>

#include "kvproof/device/child.h"

namespace kvproof {
namespace {

constexpr std::uint64_t base = 0x7f0000000000;

FaultReport fault_at(std::uint64_t address, Access access) {
  FaultReport fault;
  fault.signal = SIGSEGV;
  fault.code = SEGV_MAPERR;
  fault.address = address;
  fault.access = access;
  fault.in_kernel = 1;
  fault.stack_pointer = 0x7ffc00000000;
  fault.pool = {base, base + 0x10000};
  fault.input = {base + 0x100000, base + 0x100400};
  fault.indices = {base + 0x200000, base + 0x200010};
  return fault;
}

TEST(ChildFault, TheNearestBufferIsNamed) {
  EXPECT_EQ(describe(fault_at(base + 0x100400, Access::read)), "read 0 bytes past the end of the input");
  EXPECT_EQ(describe(fault_at(base + 0x200018, Access::read)), "read 8 bytes past the end of the indices");
  EXPECT_EQ(describe(fault_at(base - 576, Access::write)), "write 576 bytes before the pool");
  EXPECT_EQ(describe(fault_at(base - (std::uint64_t{8} << 30), Access::write)), "write 8589934592 bytes before the pool");
  EXPECT_EQ(describe(fault_at(base + 5, Access::unknown)), "access inside the pool, 5 bytes from its front");
}

TEST(ChildFault, AddressesNearNothingAreGivenAsTheyAre) {
  EXPECT_EQ(describe(fault_at(0x10, Access::read)), "read at address 0x10, through a null pointer");
  EXPECT_EQ(describe(fault_at(0x7ffbffffff00, Access::write)), "write at address 0x7ffbffffff00, where the stack overflows");
  EXPECT_EQ(describe(fault_at(0x400000000, Access::write)), "write at address 0x400000000");
  FaultReport no_address = fault_at(0, Access::write);
  no_address.code = SI_KERNEL;
  EXPECT_EQ(describe(no_address), "an address that no process can have");
  FaultReport sent = fault_at(0, Access::write);
  sent.code = SI_USER;
  EXPECT_EQ(describe(sent), "");
}

TEST(ChildFault, AFaultAfterTheKernelReturnedSaysSo) {
  ChildEnding ending;
  ending.how = ChildEnding::How::signal;
  ending.number = SIGSEGV;
  ending.fault = fault_at(base + 0x10000, Access::write);
  EXPECT_EQ(describe(ending), "crashed: SIGSEGV (Segmentation fault), write 0 bytes past the end of the pool");
  ending.fault->in_kernel = 0;
  EXPECT_EQ(describe(ending),
            "crashed: SIGSEGV (Segmentation fault), write 0 bytes past the end of the pool, after it had returned");
}

}  // namespace
}  // namespace kvproof
