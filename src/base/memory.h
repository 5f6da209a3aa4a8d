// SPDX-License-Identifier: Apache-2.0
//
// Gives freed memory back to the system.
//
// Guarantees: changes nothing but what the process takes; does nothing where the C library has no such call.
// Cost: about a millisecond for each 100 MB that is free; other threads wait for it when they allocate.
// Threads: any. Source: malloc_trim(3).
#pragma once

namespace firn {

void ReturnFreeMemory();

}  // namespace firn
