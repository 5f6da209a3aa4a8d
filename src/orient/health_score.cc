// SPDX-License-Identifier: Apache-2.0
#include "orient/health_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human_text.h"

namespace firn::orient {
namespace {

// So many files more or less are nobody's trouble: a table of five tiny files is not an emergency.
constexpr double kUnnoticedFiles = 10;
constexpr double kUnnoticedManifests = 20;
constexpr double kUnnoticedSnapshots = 100;
constexpr double kFileSizeWeight = 30, kSmallFilesWeight = 30, kDeletesWeight = 20;
constexpr double kManifestsWeight = 10, kSnapshotsWeight = 10;
// Iceberg's commit.manifest.target-size-bytes.
constexpr std::int64_t kManifestSizeBytes = 8 << 20;

std::string FileSizeReason(const Diagnosis& d) {
  if (d.file_count == 0) return "there are no files";
  const std::string mean = HumanBytes(d.size_bytes / d.file_count);
  if (d.avoidable_error <= 0) {
    return fmt::format("files are as large as their partitions allow: {} on average", mean);
  }
  return fmt::format("the mean file has {}, the target is {}; entropy {:.2f}", mean, HumanBytes(d.target_size_bytes),
                     d.entropy);
}

std::string SmallFilesReason(const Diagnosis& d) {
  std::string blocked;
  if (d.blocked_files > 0) {
    blocked = fmt::format("; {} cannot be merged by this version", HumanCount(d.blocked_files, "more small file"));
  }
  if (d.removable_files == 0) {
    return fmt::format("{} below {}, none too many{}", HumanCount(d.small_files, "file"),
                       HumanBytes(d.healthy_size_bytes), blocked);
  }
  return fmt::format("{}; {} would hold the same{}", HumanCount(d.file_count, "file"),
                     HumanCount(d.file_count - d.removable_files), blocked);
}

ScorePart DeletesPart(const observe::Facts& facts, const Diagnosis& d) {
  std::int64_t deleted_rows = 0;
  for (const auto& partition : facts.partitions) deleted_rows += partition.deleted_rows_max;
  const std::int64_t positional = facts.position_delete_files + facts.deletion_vectors;
  const double files = static_cast<double>(d.file_count) + kUnnoticedFiles;
  const double share =
      d.record_count == 0 ? 0 : std::min(1.0, static_cast<double>(deleted_rows) / static_cast<double>(d.record_count));
  ScorePart part{"deletes", 0, kDeletesWeight, "no delete files"};
  part.score = DeletesScore(share, static_cast<double>(positional) / files,
                            static_cast<double>(facts.equality_delete_files) / files);
  if (positional + facts.equality_delete_files > 0) {
    part.reason = fmt::format("{}, {}, {}; up to {:.1f} % of the rows are deleted by position",
                              HumanCount(facts.position_delete_files, "position delete file"),
                              HumanCount(facts.deletion_vectors, "deletion vector"),
                              HumanCount(facts.equality_delete_files, "equality delete file"), 100 * share);
  }
  return part;
}

ScorePart ManifestsPart(const observe::Facts& facts) {
  std::int64_t bytes = 0;
  for (const auto& manifest : facts.manifests) bytes += std::max<std::int64_t>(0, manifest.file.manifest_length);
  const auto count = static_cast<std::int64_t>(facts.manifests.size());
  const std::int64_t needed = std::min(count, bytes / kManifestSizeBytes + 1);
  ScorePart part{"manifests", ManifestsScore(static_cast<double>(count), static_cast<double>(needed)), kManifestsWeight,
                 ""};
  part.reason =
      fmt::format("{} of {}; {} would do", HumanCount(count, "manifest"), HumanBytes(bytes), HumanCount(needed));
  return part;
}

ScorePart SnapshotsPart(const observe::Facts& facts) {
  const auto count = static_cast<std::int64_t>(facts.snapshots.size());
  ScorePart part{"snapshots", SnapshotsScore(static_cast<double>(count)), kSnapshotsWeight, ""};
  part.reason = fmt::format("{} kept", HumanCount(count, "snapshot"));
  return part;
}

}  // namespace

double FileSizeScore(double avoidable_error, double file_count) {
  return 100 * (1 - std::sqrt(std::clamp(avoidable_error / (file_count + kUnnoticedFiles), 0.0, 1.0)));
}

double SmallFilesScore(double removable_files, double file_count) {
  return 100 * (1 - std::clamp(removable_files / (file_count + kUnnoticedFiles), 0.0, 1.0));
}

double DeletesScore(double deleted_row_share, double position_deletes_per_file, double equality_deletes_per_file) {
  // A delete file is one more open per scan; an equality delete is a join with every older row besides.
  return 100 / (1 + 3 * deleted_row_share + position_deletes_per_file + 4 * equality_deletes_per_file);
}

double ManifestsScore(double manifests, double manifests_needed) {
  const double excess = std::max(0.0, manifests - std::max(1.0, manifests_needed));
  return 100 * (1 - excess / (std::max(manifests, 1.0) + kUnnoticedManifests));
}

double SnapshotsScore(double snapshots) { return 100 / (1 + std::max(0.0, snapshots - kUnnoticedSnapshots) / 400); }

double EstimateScore(double file_count, double removable_files, double positional_deletes, double equality_deletes) {
  const double files = file_count + kUnnoticedFiles;
  const double deletes = DeletesScore(0, positional_deletes / files, equality_deletes / files);
  return (kFileSizeWeight * FileSizeScore(removable_files, file_count) +
          kSmallFilesWeight * SmallFilesScore(removable_files, file_count) + kDeletesWeight * deletes +
          100 * (kManifestsWeight + kSnapshotsWeight)) /
         (kFileSizeWeight + kSmallFilesWeight + kDeletesWeight + kManifestsWeight + kSnapshotsWeight);
}

void ScoreHealth(const observe::Facts& facts, Diagnosis& diagnosis) {
  const auto files = static_cast<double>(diagnosis.file_count);
  diagnosis.parts = {
      {"file sizes", FileSizeScore(diagnosis.avoidable_error, files), kFileSizeWeight, FileSizeReason(diagnosis)},
      {"small files", SmallFilesScore(static_cast<double>(diagnosis.removable_files), files), kSmallFilesWeight,
       SmallFilesReason(diagnosis)},
      DeletesPart(facts, diagnosis),
      ManifestsPart(facts),
      SnapshotsPart(facts)};
  double sum = 0, weights = 0;
  for (const auto& part : diagnosis.parts) {
    sum += part.score * part.weight;
    weights += part.weight;
  }
  diagnosis.score = sum / weights;
}

}  // namespace firn::orient
