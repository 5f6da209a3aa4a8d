// SPDX-License-Identifier: Apache-2.0
#include "simulate/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace firn::simulate {
namespace {

constexpr double kWidth = 860, kHeight = 420;
constexpr double kLeft = 78, kRight = 150, kTop = 44, kBottom = 48;
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#888888"};
constexpr std::array<std::string_view, 4> kDashes = {"none", "7 3", "2 3", "9 3 2 3"};

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

/// "1.5k", "20M": what fits beside a mark.
std::string ShortNumber(double value) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (std::abs(value) >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:g}{}", std::round(value * 1000) / 1000, kUnits[unit]);
}

struct Axes {
  double x_high = 1, y_high = 1, y_step = 1, x_step = 1;
  double X(double x) const { return kLeft + x / x_high * (kWidth - kLeft - kRight); }
  double Y(double y) const { return kHeight - kBottom - y / y_high * (kHeight - kTop - kBottom); }
};

Axes AxesOf(const LineChart& chart) {
  Axes axes;
  double x_high = 0, y_high = 0;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      x_high = std::max(x_high, point.x);
      y_high = std::max(y_high, point.y);
    }
  }
  axes.x_high = x_high > 0 ? x_high : 1;
  axes.x_step = AxisStep(axes.x_high, 10);
  axes.y_step = AxisStep(y_high > 0 ? y_high : 1, 6);
  axes.y_high = axes.y_step * std::ceil((y_high > 0 ? y_high : 1) / axes.y_step);
  return axes;
}

void DrawAxes(const LineChart& chart, const Axes& axes, std::string& svg) {
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  for (int i = 0; i * axes.y_step <= axes.y_high * (1 + 1e-9); ++i) {
    const double value = i * axes.y_step, y = axes.Y(value);
    svg +=
        fmt::format("<line class=\"grid\" x1=\"{:g}\" y1=\"{:.1f}\" x2=\"{:g}\" y2=\"{:.1f}\"/>\n", kLeft, y, right, y);
    svg += fmt::format("<text text-anchor=\"end\" x=\"{:g}\" y=\"{:.1f}\">{}</text>\n", kLeft - 8, y + 4,
                       ShortNumber(value));
  }
  for (int i = 0; i * axes.x_step <= axes.x_high * (1 + 1e-9); ++i) {
    svg += fmt::format("<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:g}\">{}</text>\n", axes.X(i * axes.x_step),
                       bottom + 18, ShortNumber(i * axes.x_step));
  }
  svg +=
      fmt::format("<line class=\"axis\" x1=\"{0:g}\" y1=\"{1:g}\" x2=\"{2:g}\" y2=\"{1:g}\"/>\n", kLeft, bottom, right);
  svg += fmt::format("<text class=\"title\" x=\"{:g}\" y=\"24\">{}</text>\n", kLeft, Escaped(chart.title));
  svg += fmt::format("<text text-anchor=\"middle\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", (kLeft + right) / 2,
                     kHeight - 10, Escaped(chart.x_label));
  svg += fmt::format("<text text-anchor=\"middle\" transform=\"translate(16 {:g}) rotate(-90)\">{}</text>\n",
                     (kTop + bottom) / 2, Escaped(chart.y_label));
}

void DrawSeries(const ChartSeries& series, std::size_t index, const Axes& axes, std::string& svg) {
  const std::string style = fmt::format("stroke=\"{}\" stroke-dasharray=\"{}\"", kColours[index % kColours.size()],
                                        kDashes[index % kDashes.size()]);
  std::string path;
  for (const ChartPoint& point : series.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", axes.X(point.x), axes.Y(point.y));
  }
  svg +=
      fmt::format("<path class=\"series\" {} d=\"{}\"><title>{}</title></path>\n", style, path, Escaped(series.name));
  const double x = kWidth - kRight + 14, y = kTop + 10 + 20 * static_cast<double>(index);
  svg += fmt::format("<path class=\"series\" {} d=\"M{:g} {:g}h24\"/>\n", style, x, y);
  svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\">{}</text>\n", x + 30, y + 4, Escaped(series.name));
}

}  // namespace

double AxisStep(double high, int marks_max) {
  const double least = high / marks_max;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string ToSvg(const LineChart& chart) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
      "role=\"img\" aria-label=\"{2}\">\n",
      kWidth, kHeight, Escaped(chart.title));
  svg +=
      "<style>text{font:12px sans-serif;fill:#333}.title{font-size:15px;font-weight:600}.grid{stroke:#ddd}"
      ".axis{stroke:#888}.series{fill:none;stroke-width:2}.back{fill:#fff}"
      "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#333}.back{fill:#111}}</style>\n"
      "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n";
  const Axes axes = AxesOf(chart);
  DrawAxes(chart, axes, svg);
  for (std::size_t i = 0; i < chart.series.size(); ++i) DrawSeries(chart.series[i], i, axes, svg);
  return svg + "</svg>\n";
}

}  // namespace firn::simulate
