// SPDX-License-Identifier: Apache-2.0
//
// The pictures of a simulation: one for each measure, with a line for each policy.
//
// In: results of runs of one trace. Out: charts with the names of their files.
// Guarantees: file names are letters, digits and dashes.
// Threads: pure. Source: docs/simulator.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulate/line_chart.h"
#include "simulate/run.h"

namespace firn::simulate {

struct Plot {
  std::string file_name;  // "bursty-files.svg"
  LineChart chart;
};

/// `trace_name`: of the workload or the table, for titles and file names.
std::vector<Plot> PlotsOf(const std::string& trace_name, std::span<const RunResult> results);

}  // namespace firn::simulate
