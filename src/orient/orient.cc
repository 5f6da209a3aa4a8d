// SPDX-License-Identifier: Apache-2.0
#include "orient/orient.h"

#include <algorithm>
#include <tuple>

#include "orient/delete_debt.h"
#include "orient/file_size_entropy.h"
#include "orient/health_score.h"

namespace firn::orient {
namespace {

/// What one partition adds to the table's sums.
struct Tally {
  PartitionDiagnosis diagnosis;
  FileSizeEntropy all;
  double small_error = 0;        // of small and blocked files, in target^2
  std::int64_t below_bytes = 0;  // of small and blocked files

  explicit Tally(std::int64_t target) : all(target) {}
};

void Count(const observe::DataFileFacts& file, const Policy& policy, Tally& tally) {
  ++tally.diagnosis.file_count;
  tally.all.Add(file.size_bytes);
  const FileClass file_class = Classify(file, policy);
  const std::int64_t live_bytes = LiveSizeBytes(file);
  if (live_bytes < policy.healthy_size_bytes()) {
    const double error =
        1 - static_cast<double>(std::max<std::int64_t>(0, live_bytes)) / static_cast<double>(policy.target_size_bytes);
    tally.small_error += error * error;
    tally.below_bytes += live_bytes;
  }
  if (file_class != FileClass::kBlocked && IsFoldDue(file, policy)) ++tally.diagnosis.fold_files;
  if (file.delete_files > 0) ++tally.diagnosis.files_with_deletes;
  tally.diagnosis.deleted_rows += file.deleted_rows;
  if (file_class == FileClass::kSmall) {
    ++tally.diagnosis.small_files;
    tally.diagnosis.small_bytes += live_bytes;
  } else if (file_class == FileClass::kBlocked) {
    ++tally.diagnosis.blocked_files;
  }
}

void Finish(const Policy& policy, Tally& tally) {
  auto& d = tally.diagnosis;
  const std::int64_t target = policy.target_size_bytes;
  d.size_mse = tally.all.mean_squared_error();
  d.removable_files = std::max<std::int64_t>(0, d.small_files - (d.small_bytes + target - 1) / target);
  // Merged, these bytes would be files without error, or one file that is as large as they are together.
  const double left = std::max(0.0, 1 - static_cast<double>(tally.below_bytes) / static_cast<double>(target));
  d.avoidable_error = std::max(0.0, tally.small_error - left * left);
}

void AddToTable(const PartitionDiagnosis& d, Diagnosis& table) {
  table.small_files += d.small_files;
  table.small_bytes += d.small_bytes;
  table.blocked_files += d.blocked_files;
  table.removable_files += d.removable_files;
  table.fold_files += d.fold_files;
  table.files_with_deletes += d.files_with_deletes;
  table.deleted_rows += d.deleted_rows;
  table.avoidable_error += d.avoidable_error;
}

}  // namespace

FileClass Classify(const observe::DataFileFacts& file, const Policy& policy) {
  const bool is_small = LiveSizeBytes(file) < policy.healthy_size_bytes();
  if (!is_small && !IsFoldDue(file, policy)) return FileClass::kHealthy;
  if ((file.flags & ~policy.mergeable_flags) != 0) return FileClass::kBlocked;
  return is_small ? FileClass::kSmall : FileClass::kFold;
}

Diagnosis Diagnose(const observe::Facts& facts, const Policy& policy) {
  Diagnosis table;
  table.target_size_bytes = policy.target_size_bytes;
  table.healthy_size_bytes = policy.healthy_size_bytes();
  std::vector<Tally> tallies(facts.partitions.size(), Tally(policy.target_size_bytes));
  for (const auto& file : facts.files) {
    Count(file, policy, tallies[file.partition]);
    table.size_bytes += file.size_bytes;
    table.record_count += file.record_count;
  }
  table.file_count = static_cast<std::int64_t>(facts.files.size());

  FileSizeEntropy all(policy.target_size_bytes);
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    tallies[i].diagnosis.partition = static_cast<std::uint32_t>(i);
    if (tallies[i].diagnosis.file_count == 0) continue;
    Finish(policy, tallies[i]);
    AddToTable(tallies[i].diagnosis, table);
    all.Merge(tallies[i].all);
    table.partitions.push_back(tallies[i].diagnosis);
  }
  table.size_mse = all.mean_squared_error();
  table.entropy = all.entropy();
  std::sort(table.partitions.begin(), table.partitions.end(),
            [](const PartitionDiagnosis& a, const PartitionDiagnosis& b) {
              return std::tuple(-a.removable_files, -a.size_mse, a.partition) <
                     std::tuple(-b.removable_files, -b.size_mse, b.partition);
            });
  ScoreHealth(facts, table);
  return table;
}

}  // namespace firn::orient
