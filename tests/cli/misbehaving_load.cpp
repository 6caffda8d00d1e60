// Plug-ins that misbehave while they are loaded, one a value of LOADING.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "kvproof/kernel.h"

const kvproof_kernel* kvproof_kernels(std::uint32_t, std::size_t* count) {
  *count = 0;
  std::puts("looking for an accelerator");
  std::fflush(stdout);
  volatile int* volatile nowhere = nullptr;
  volatile bool always = true;
  switch (LOADING) {
    case 0:
      *nowhere = 1;
      break;
    case 1:
      while (always) {
      }
      break;
    default:
      std::exit(0);
  }
  return nullptr;
}
