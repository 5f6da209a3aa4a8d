// SPDX-License-Identifier: Apache-2.0
//
// An analysis of a table for tests of the API and the dashboard.
//
// In: a table's id, the time. Out: what `firn analyze` would have found: merge, and a smaller target file size.
// Guarantees: the members are those of service/analysis_json.h. Threads: pure.
#pragma once

#include <cstdint>
#include <string>

#include "service/fleet_rows.h"

namespace firn::api {

inline service::AnalysisRow FixtureAnalysis(const std::string& table, std::int64_t now_ms) {
  service::AnalysisRow row;
  row.table = table;
  row.job = "j00000007";
  row.made_ms = now_ms - 7'200'000;
  row.word = "change-target-and-merge";
  row.proposed_target_bytes = 134'217'728;
  row.json = R"({"table":"sales.orders","files":2000,"bytes":200000000,"advice":{"word":"change-target-and-merge",
    "merge":{"advised":true,"reason":"2,000 files become 2, which saves 93 % of a read of two columns",
    "read_saved":0.93,"seconds_saved":1.1},
    "file_size":{"change":true,"reason":"at 128 MiB a day costs 32 % less than at 512 MiB",
    "target_size_bytes":134217728,"current_bytes":536870912},
    "sort":{"advised":false,"reason":"no column would gain enough"}},
    "read_now":{"all_seconds":2.5,"two_seconds":1.2},"candidates":[
    {"target_size_bytes":134217728,"is_current":false,"files_after":2,"bytes_rewritten":200000000,"merge_seconds":4.5,
    "read_after":{"all_seconds":0.9,"two_seconds":0.1},"lasting_files":2,"lasting_read":{"all_seconds":0.9,
    "two_seconds":0.1},"rewrites_per_byte":2.5},
    {"target_size_bytes":536870912,"is_current":true,"files_after":1,"bytes_rewritten":200000000,"merge_seconds":4.5,
    "read_after":{"all_seconds":0.9,"two_seconds":0.09},"lasting_files":1,"lasting_read":{"all_seconds":0.9,
    "two_seconds":0.09},"rewrites_per_byte":6.25}],
    "experiment":{"done":true,"reason":"","files":640,"bytes":67108864,"rows":1200000,"partitions":3,"runs":[]},
    "earlier":{"runs":25,"bytes":2500000000,"seconds":50,"predicted_seconds":41,"days":1,"merged_again":24,
    "lasting_days":0.0417,"read_share":1},"inputs":["an experiment on 640 files of 64 MiB",
    "earlier merges: 25, 2.3 GiB in 50 s (predicted: 41 s), that is 47.7 MiB a second"],
    "assumptions":["a read is one of the whole table by one worker"],"sort_candidates":[]})";
  return row;
}

}  // namespace firn::api
