// SPDX-License-Identifier: Apache-2.0
#include "decide/column_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace firn::decide {
namespace {

/// Sorting rewrites the table and has to be kept up: it must spare half of what is opened, ...
constexpr double kSortedShareMax = 0.5;
/// ... and that must be much. Less is what natural clustering has already.
constexpr double kShareNowMin = 0.3;
/// Bounds of fewer files say nothing about the column.
constexpr double kBoundsShareMin = 0.8;
/// Shares that are alike for people.
constexpr double kShareSame = 0.005;
/// Below this, sums of widths are too coarse: atoms count evenly.
constexpr double kSpannedMin = 1e-9;

/// Two atoms a place: the value itself, and what lies between it and the next one. Never empty.
std::vector<double> AtomWidths(std::span<const double> places, double value_width) {
  std::vector<double> widths(std::max<std::size_t>(2 * places.size(), 1));
  double largest = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    widths[2 * i] = value_width;
    const double gap = i + 1 < places.size() ? places[i + 1] - places[i] - value_width : 0;
    widths[2 * i + 1] = gap > 0 && std::isfinite(gap) ? gap : 0;  // bounds may be infinite
    largest = std::max({largest, widths[2 * i], widths[2 * i + 1]});
  }
  // Of the widest: sums stay finite.
  for (double& width : widths) width = largest > 0 ? width / largest : 0;
  return widths;
}

}  // namespace

double PointShare(std::span<const FileSpan> files, std::span<const double> places, double value_width) {
  const std::vector<double> width = AtomWidths(places, value_width);
  const std::size_t atoms = width.size();
  const auto range = [&](const FileSpan& file) {
    const bool known = file.low && file.high && *file.low <= *file.high && *file.high < places.size();
    return known ? std::pair(2 * std::size_t{*file.low}, 2 * std::size_t{*file.high} + 1)
                 : std::pair(std::size_t{0}, atoms);
  };
  std::vector<std::int64_t> changes(atoms + 1);  // of the bytes of files that span an atom
  std::int64_t all_bytes = 0, all_rows = 0;
  for (const FileSpan& file : files) {
    const auto [begin, end] = range(file);
    changes[begin] += file.size_bytes;
    changes[end] -= file.size_bytes;
    all_bytes += file.size_bytes;
    all_rows += file.record_count;
  }
  if (all_rows <= 0 || all_bytes <= 0) return 1;
  // Sums from the first atom on: of widths, and of the share opened, by width and evenly.
  std::vector<double> widths(atoms + 1), by_width(atoms + 1), even(atoms + 1);
  std::int64_t bytes = 0;
  for (std::size_t atom = 0; atom < atoms; ++atom) {
    bytes += changes[atom];
    const double opened = static_cast<double>(bytes) / static_cast<double>(all_bytes);
    widths[atom + 1] = widths[atom] + width[atom];
    by_width[atom + 1] = by_width[atom] + width[atom] * opened;
    even[atom + 1] = even[atom] + opened;
  }
  double share = 0;
  for (const FileSpan& file : files) {
    const auto [begin, end] = range(file);
    const double spanned = widths[end] - widths[begin];
    const double opened = spanned > kSpannedMin ? (by_width[end] - by_width[begin]) / spanned
                                                : (even[end] - even[begin]) / static_cast<double>(end - begin);
    share += std::clamp(opened, 0.0, 1.0) * static_cast<double>(file.record_count) / static_cast<double>(all_rows);
  }
  return std::clamp(share, 0.0, 1.0);
}

std::int64_t LastingFiles(double bytes, std::int64_t target_size_bytes) {
  return std::max<std::int64_t>(
      1, std::llround(bytes / static_cast<double>(std::max<std::int64_t>(target_size_bytes, 1))));
}

double SortedPointShare(std::int64_t partition_bytes, std::int64_t target_size_bytes,
                        std::optional<std::int64_t> values_max) {
  double share = 1 / static_cast<double>(LastingFiles(static_cast<double>(partition_bytes), target_size_bytes));
  if (values_max) share = std::max(share, 1 / static_cast<double>(std::max<std::int64_t>(*values_max, 1)));
  return share;
}

void JudgeSort(SortCandidate& candidate) {
  const auto percent = [](double share) { return fmt::format("{:.{}f} %", share * 100, share < 0.01 ? 1 : 0); };
  const double now = candidate.point_share_now, sorted = candidate.point_share_sorted;
  candidate.pays = false;
  if (candidate.bounds_share < kBoundsShareMin) {
    candidate.reason = fmt::format("only {} of the files have bounds of it", percent(candidate.bounds_share));
  } else if (now < kShareNowMin) {
    candidate.reason =
        fmt::format("a point lookup opens {} of a partition as it is: the rows lie in order well enough", percent(now));
  } else if (sorted > now - kShareSame) {
    candidate.reason = "sorted it would open as much: a partition is one file of the size advised, or has few values";
  } else if (sorted > kSortedShareMax * now) {
    candidate.reason = fmt::format("sorting would bring {} down to {} only", percent(now), percent(sorted));
  } else {
    candidate.pays = true;
    candidate.reason = fmt::format("a point lookup opens {} of a partition now, and {} if it were sorted", percent(now),
                                   percent(sorted));
  }
}

}  // namespace firn::decide
