// SPDX-License-Identifier: Apache-2.0
#include "simulate/plots.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/ascii.h"

namespace firn::simulate {
namespace {

constexpr double kGiB = 1 << 30;

struct Measure {
  std::string_view file, title, unit;
  double (*of)(const Sample&);
};

constexpr std::array<Measure, 5> kMeasures = {{
    {"files", "data files", "files", [](const Sample& s) { return static_cast<double>(s.totals.files); }},
    {"read-cost", "what reading everything once costs", "GiB, an open file is 4 MiB",
     [](const Sample& s) { return ReadCost(s.totals) / kGiB; }},
    {"bytes-written", "bytes rewritten by merges", "GiB",
     [](const Sample& s) { return static_cast<double>(s.bytes_written) / kGiB; }},
    {"worker-seconds", "work done by merges", "worker-seconds", [](const Sample& s) { return s.worker_seconds; }},
    {"delete-reads", "delete files that readers have to open, for each data file", "files",
     [](const Sample& s) { return static_cast<double>(s.totals.delete_reads); }},
}};

std::string FileName(std::string_view trace_name, std::string_view measure) {
  std::string name;
  for (const char c : trace_name) name += IsAsciiAlphanumeric(c) ? c : '-';
  return fmt::format("{}-{}.svg", name, measure);
}

}  // namespace

std::vector<Plot> PlotsOf(const std::string& trace_name, std::span<const RunResult> results) {
  std::vector<Plot> plots;
  for (const Measure& measure : kMeasures) {
    Plot plot;
    plot.file_name = FileName(trace_name, measure.file);
    plot.chart.title = fmt::format("{}: {}", trace_name, measure.title);
    plot.chart.x_label = "hours";
    plot.chart.y_label = measure.unit;
    double highest = 0;
    for (const RunResult& result : results) {
      ChartSeries& series = plot.chart.series.emplace_back();
      series.name = result.policy;
      for (const Sample& sample : result.samples) {
        const double hours = static_cast<double>(sample.at.value - result.samples.front().at.value) / 3.6e6;
        series.points.push_back({hours, measure.of(sample)});
        highest = std::max(highest, series.points.back().y);
      }
    }
    if (highest > 0) plots.push_back(std::move(plot));  // without deletes there is nothing to draw of them
  }
  return plots;
}

}  // namespace firn::simulate
