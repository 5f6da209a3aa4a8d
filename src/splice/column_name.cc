// SPDX-License-Identifier: Apache-2.0
#include "splice/column_name.h"

namespace firn::splice {

std::string PathName(const OutputColumn& column) {
  std::string name;
  for (const std::string& part : column.path) name += (name.empty() ? "" : ".") + part;
  return name;
}

}  // namespace firn::splice
