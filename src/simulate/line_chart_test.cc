// SPDX-License-Identifier: Apache-2.0
#include "simulate/line_chart.h"

#include <gtest/gtest.h>

#include "simulate/plots.h"

namespace firn::simulate {
namespace {

std::size_t CountOf(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(LineChart, MarksAreRound) {
  EXPECT_DOUBLE_EQ(AxisStep(100, 10), 10);
  EXPECT_DOUBLE_EQ(AxisStep(101, 10), 20);
  EXPECT_DOUBLE_EQ(AxisStep(72, 10), 10);
  EXPECT_DOUBLE_EQ(AxisStep(0.3, 6), 0.05);
  EXPECT_DOUBLE_EQ(AxisStep(123'456, 6), 50'000);
}

TEST(LineChart, PointsAreWhereTheirValuesSay) {
  LineChart chart{"a title", "hours", "files", {{"one", {{0, 0}, {10, 50}, {20, 100}}}, {"two", {{0, 100}, {20, 0}}}}};
  const std::string svg = ToSvg(chart);
  // The plot is 632 wide from 78, and 328 high up from 372; 100 is its highest mark.
  EXPECT_NE(svg.find("d=\"M78.0 372.0L394.0 208.0L710.0 44.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("d=\"M78.0 44.0L710.0 372.0\""), std::string::npos);
  EXPECT_EQ(CountOf(svg, "class=\"series\""), 4U);  // a line and its name, twice
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(LineChart, TextIsEscapedAndNothingIsNoFault) {
  LineChart chart{"<script>\"a\" & b\x01", "x", "y", {{"<b>", {}}}};
  const std::string svg = ToSvg(chart);
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;&quot;a&quot; &amp; b "), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Plots, OneForEachMeasureThatThereIs) {
  std::vector<RunResult> results(2);
  for (RunResult& result : results) {
    result.policy = &result == &results[0] ? "firn" : "none";
    for (int i = 0; i < 3; ++i) {
      Sample sample;
      sample.at = TimestampMs{3'600'000 * (5 + i)};
      sample.totals.files = 10 * (i + 1);
      sample.bytes_written = 1 << 30;
      result.samples.push_back(sample);
    }
  }
  const auto plots = PlotsOf("db.a/b", results);
  std::vector<std::string> names;
  for (const Plot& plot : plots) names.push_back(plot.file_name);
  EXPECT_EQ(names, (std::vector<std::string>{"db-a-b-files.svg", "db-a-b-read-cost.svg", "db-a-b-bytes-written.svg"}));
  ASSERT_EQ(plots[0].chart.series.size(), 2U);
  EXPECT_EQ(plots[0].chart.series[0].name, "firn");
  EXPECT_DOUBLE_EQ(plots[0].chart.series[0].points[2].x, 2);
  EXPECT_DOUBLE_EQ(plots[0].chart.series[0].points[2].y, 30);
}

}  // namespace
}  // namespace firn::simulate
