// SPDX-License-Identifier: Apache-2.0
//
// Draws lines over time as an SVG picture that stands alone.
//
// In: a title, series of points. Out: SVG text.
// Guarantees: text is escaped; the axis begins at 0 and ends at a round number above the largest value; series are told
//   apart by colour, dashes and their names at the side. Light and dark by the reader's wish. No script, font or link.
// Cost: 20 bytes a point. Threads: pure.
// Source: SVG 1.1; colours of Okabe and Ito, which the colour-blind can tell apart.
#pragma once

#include <string>
#include <vector>

namespace firn::simulate {

struct ChartPoint {
  double x = 0, y = 0;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
};

struct LineChart {
  std::string title;
  std::string x_label, y_label;
  std::vector<ChartSeries> series;
};

std::string ToSvg(const LineChart& chart);

/// A step between marks of an axis: 1, 2 or 5 times a power of ten, so that at most `marks_max` reach `high`.
double AxisStep(double high, int marks_max);

}  // namespace firn::simulate
