// SPDX-License-Identifier: Apache-2.0
//
// Random choices of column types, of how Arrow writes a file, and of options, for differential tests.
//
// Guarantees: the same generator gives the same choices.
// Threads: none.
#pragma once

#include <string>
#include <vector>

#include "splice/arrow_tables_test.h"

namespace firn::splice::testing {

template <class T>
const T& OneOf(Random& random, const std::vector<T>& choices) {
  return choices[random.Below(choices.size())];
}

/// One to five types, flat and nested.
std::vector<std::string> RandomTypes(Random& random);
FileChoice RandomFile(Random& random, const std::vector<std::string>& types);
Options RandomOptions(Random& random);

}  // namespace firn::splice::testing
