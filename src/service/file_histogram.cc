// SPDX-License-Identifier: Apache-2.0
#include "service/file_histogram.h"

#include <algorithm>

namespace firn::service {
namespace {

constexpr std::int64_t kSmallestEdge = std::int64_t{64} << 10, kLargestEdge = std::int64_t{1} << 30;

std::vector<std::int64_t> Edges() {
  std::vector<std::int64_t> edges;
  for (std::int64_t edge = kSmallestEdge; edge <= kLargestEdge; edge *= 2) edges.push_back(edge);
  return edges;
}

std::size_t BarOf(const Histogram& histogram, std::int64_t size_bytes) {
  const auto place = std::ranges::upper_bound(histogram.edges, size_bytes);
  return static_cast<std::size_t>(place - histogram.edges.begin());
}

}  // namespace

void SetHistogram(const observe::Facts& facts, bool is_first, Histogram& histogram) {
  histogram.edges = Edges();
  histogram.now.assign(histogram.edges.size() + 1, 0);
  for (const observe::DataFileFacts& file : facts.files) ++histogram.now[BarOf(histogram, file.size_bytes)];
  if (is_first || histogram.before.size() != histogram.now.size()) histogram.before = histogram.now;
}

void CountFiles(const observe::PartitionDelta& delta, Histogram& histogram) {
  if (histogram.now.size() != histogram.edges.size() + 1) return;
  for (const observe::ChangedFile& file : delta.added) ++histogram.now[BarOf(histogram, file.size_bytes)];
  for (const observe::ChangedFile& file : delta.removed) {
    std::int64_t& bar = histogram.now[BarOf(histogram, file.size_bytes)];
    bar = std::max<std::int64_t>(0, bar - 1);
  }
}

}  // namespace firn::service
