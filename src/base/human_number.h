// SPDX-License-Identifier: Apache-2.0
//
// Writes a plain number for people: three digits that count, and never an exponent.
//
// In: any double. Out: "1,090", "21.3", "0.97", "0.0004", "0" below a millionth, "-" for what is no number.
// Guarantees: no locale. Cost: none worth a name.
// Threads: pure. Errors: none.
#pragma once

#include <string>

namespace firn {

std::string HumanNumber(double number);

}  // namespace firn
