// SPDX-License-Identifier: Apache-2.0
//
// A word by which names that this process gives differ from those of any other.
//
// Guarantees: the same for the life of the process, random, 16 hexadecimal digits. Process numbers count only in their
//   PID namespace; a child that was forked has the word of its parent, and another number.
// Cost: a read of the system's randomness, once. Threads: any. Errors: none.
// Source: none.
#pragma once

#include <string>

namespace firn::ports {

const std::string& ProcessToken();

}  // namespace firn::ports
