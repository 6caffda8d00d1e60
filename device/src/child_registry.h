// The children that live now, in a form that a signal handler may read.
#pragma once

#include <sys/types.h>

namespace kvproof {

// False when the table is full; the child then still ends with its parent, through the kernel of the system.
bool register_child(pid_t process);
void forget_child(pid_t process);

// Ends what children left behind, if adopt_strays was called.
void end_strays();

}  // namespace kvproof
