// SPDX-License-Identifier: Apache-2.0
#include "decide/packing_ordered.h"

#include <algorithm>

namespace firn::decide {
namespace {

constexpr double kAtomWeight = 1.0 / 256;
/// A run of as many files as are allowed has at least so many atoms, so that runs can be filled well.
constexpr std::int64_t kAtomsOfLargest = 16;

/// A file, or what an earlier round joined.
struct Entry {
  PackingItem item;
  std::uint32_t head = 0;  // first file of the chain
};
using Segment = std::vector<Entry>;

/// Neighbours that one round keeps together: entries [first, last) of a segment.
struct Atom {
  PackingItem item;
  std::size_t first = 0, last = 0;
};

/// A stretch of atoms [first, last) that becomes one file.
struct Run {
  std::size_t first = 0, last = 0;
};

/// One atom an entry, or in long lists one for neighbours that are too small to tell apart.
std::vector<Atom> AtomsOf(const PackingModel& model, const Segment& segment) {
  const bool exact = segment.size() <= kExactFiles;
  const std::int64_t files_max = std::max<std::int64_t>(1, model.limits().max_input_files / kAtomsOfLargest);
  std::vector<Atom> atoms;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const PackingItem& item = segment[i].item;
    if (!exact && !atoms.empty() && atoms.back().item.weight + item.weight <= kAtomWeight &&
        atoms.back().item.files + item.files <= files_max) {
      atoms.back().item += item;
      atoms.back().last = i + 1;
    } else {
      atoms.push_back({item, i, i + 1});
    }
  }
  return atoms;
}

/// The dynamic programme: best[j] is the greatest value of the first j atoms. With A = prefix sums of error and benefit
/// less cost, a run (i, j] adds A[j] - A[i] - error(W[j] - W[i]), so the loop needs one subtraction and one table
/// look-up a step.
std::vector<Run> BestRuns(const PackingModel& model, const std::vector<Atom>& atoms) {
  const std::size_t n = atoms.size();
  std::vector<double> weight(n + 1), worth(n + 1), best(n + 1);
  std::vector<std::uint32_t> from(n + 1);
  for (std::size_t j = 1; j <= n; ++j) {
    const PackingItem& item = atoms[j - 1].item;
    weight[j] = weight[j - 1] + item.weight;
    worth[j] = worth[j - 1] + item.error + item.benefit - item.cost;
    best[j] = best[j - 1];
    from[j] = static_cast<std::uint32_t>(j);  // itself: atom j stays
    double units = 0, largest = 0;
    std::int64_t files = 0;
    for (std::size_t i = j; i-- > 0;) {
      const double sum = weight[j] - weight[i];
      files += atoms[i].item.files;
      if (sum > model.max_weight() || files > model.limits().max_input_files) break;
      const std::size_t entries = atoms[j - 1].last - atoms[i].first;
      if (sum < model.healthy_weight()) {
        units += atoms[i].item.units;
        largest = std::max(largest, atoms[i].item.largest);
        if (entries < 2 || files < model.limits().min_input_files || units < model.limits().growth_min * largest) {
          continue;
        }
      } else if (entries < 2) {
        continue;
      }
      const double value = worth[j] - worth[i] - model.OutputError(sum);
      if (value > PackingModel::kValueMin && best[i] + value > best[j]) {
        best[j] = best[i] + value;
        from[j] = static_cast<std::uint32_t>(i);
      }
    }
  }
  std::vector<Run> runs;
  for (std::size_t j = n; j > 0;) {
    if (from[j] == j) {
      --j;
    } else {
      runs.push_back({from[j], j});
      j = from[j];
    }
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

/// Packs one stretch between barriers.
void PackSegment(const PackingModel& model, Segment segment, FileChains& chains, std::vector<Bin>& bins) {
  const auto emit_joined = [&](const Segment& entries) {
    for (const Entry& entry : entries) {
      if (entry.item.files >= 2) bins.push_back(chains.Collect(entry.head));
    }
  };
  const std::vector<Atom> atoms = AtomsOf(model, segment);
  const std::vector<Run> runs = BestRuns(model, atoms);
  if (runs.empty()) return emit_joined(segment);

  Segment piece;
  std::vector<Segment> pieces;
  std::size_t at = 0;  // entries handled so far
  for (const Run& run : runs) {
    const std::size_t first = atoms[run.first].first, last = atoms[run.last - 1].last;
    piece.insert(piece.end(), segment.begin() + static_cast<std::ptrdiff_t>(at),
                 segment.begin() + static_cast<std::ptrdiff_t>(first));
    PackingItem sum = segment[first].item;
    for (std::size_t i = first + 1; i < last; ++i) {
      sum += segment[i].item;
      chains.Join(segment[first].head, segment[i].head);
    }
    at = last;
    const Entry joined{model.Joined(sum), segment[first].head};
    if (sum.weight >= model.healthy_weight()) {
      emit_joined({joined});
      pieces.push_back(std::move(piece));
      piece = {};
    } else {
      piece.push_back(joined);
    }
  }
  piece.insert(piece.end(), segment.begin() + static_cast<std::ptrdiff_t>(at), segment.end());
  pieces.push_back(std::move(piece));
  // An exact list is done. A coarse one may hold more for a second look, now that less is left of it.
  const bool exact = atoms.size() == segment.size();
  for (auto& rest : pieces) {
    if (exact) {
      emit_joined(rest);
    } else {
      PackSegment(model, std::move(rest), chains, bins);
    }
  }
}

}  // namespace

std::vector<Bin> PackOrdered(std::span<const std::int64_t> sizes_bytes, const std::vector<bool>& barrier,
                             const PackingModel& model) {
  std::vector<PackingItem> files;
  files.reserve(sizes_bytes.size());
  for (const std::int64_t size : sizes_bytes) files.push_back(model.ItemOf(size));
  return PackOrdered(files, barrier, model);
}

std::vector<Bin> PackOrdered(std::span<const PackingItem> files, const std::vector<bool>& barrier,
                             const PackingModel& model) {
  FileChains chains(files.size());
  std::vector<Bin> bins;
  Segment segment;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if ((i < barrier.size() && barrier[i]) || files[i].weight >= model.healthy_weight()) {
      PackSegment(model, std::move(segment), chains, bins);
      segment = {};
    } else {
      segment.push_back({files[i], static_cast<std::uint32_t>(i)});
    }
  }
  PackSegment(model, std::move(segment), chains, bins);
  std::sort(bins.begin(), bins.end());
  return bins;
}

}  // namespace firn::decide
