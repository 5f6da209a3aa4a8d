// SPDX-License-Identifier: Apache-2.0
//
// What the service writes to the log: which sentence, at which level.
//
// In: decisions, ended jobs, requests, looks. Out: lines of base/log.h, one each, that begin with the table's id.
// Guarantees: info: jobs that start and end with what they did and took, requests, refusals, tables that come and go.
//   warn: work that failed and tables that cannot be read. debug: every other decision, and each look that found
//   something. Names, counts and the messages of errors, nothing else: no credentials.
// Cost: nothing where the level is dropped. Threads: any.
// Errors: none. Source: docs/service.md ("The log").
#pragma once

#include <string>
#include <vector>

#include "decide/decision.h"
#include "service/fleet_rows.h"
#include "service/look.h"
#include "service/work.h"

namespace firn::service {

/// Each as it was decided; the end of a job is LogJobEnd's.
void LogDecisions(const std::vector<decide::Decision>& decisions);
/// `decision`: the record of the end.
void LogJobEnd(const decide::Decision& decision, const WorkResult& result);
/// It was taken in, or what became of it.
void LogRequest(const RequestRow& request);
/// What has become of the table's place in its catalog since `before`.
void LogTable(const TableRow& before, const TableRow& now, bool is_replaced);
void LogLook(const std::string& table, decide::Cause cause, const LookCounts& counts);

}  // namespace firn::service
