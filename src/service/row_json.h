// SPDX-License-Identifier: Apache-2.0
//
// Keeps rows of fleet_rows.h as JSON text between two runs of the service.
//
// In: rows; JSON text. Out: JSON text; rows.
// Guarantees: what is read back equals what was written. Members that are missing keep their defaults, unknown ones are
//   ignored: a newer and an older program can read each other's state.
// Cost: O(row). Threads: pure.
// Errors: kCorrupt for text that is no such row.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "service/fleet_rows.h"

namespace firn::service {

std::string WriteRow(const TableRow& row);
std::string WriteRow(const JobRow& row);
std::string WriteRow(const RequestRow& row);
std::string WriteRow(const Histogram& row);
std::string WriteRow(const Savings& row);

Status ReadRow(std::string_view text, TableRow& row);
Status ReadRow(std::string_view text, JobRow& row);
Status ReadRow(std::string_view text, RequestRow& row);
Status ReadRow(std::string_view text, Histogram& row);
Status ReadRow(std::string_view text, Savings& row);

}  // namespace firn::service
