// SPDX-License-Identifier: Apache-2.0
//
// What a column is called in messages.
//
// In: a column. Out: the names on its path, as "a.b.c".
// Guarantees: none for names with dots in them.
// Cost: O(path). Errors: none. Threads: pure.
#pragma once

#include <string>

#include "splice/output_column.h"

namespace firn::splice {

std::string PathName(const OutputColumn& column);

}  // namespace firn::splice
