// SPDX-License-Identifier: Apache-2.0
#include "act/snapshot_summary.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace firn::act {
namespace {

iceberg::DataFile File(std::int64_t records, std::int64_t size_bytes) {
  iceberg::DataFile file;
  file.record_count = records;
  file.file_size_bytes = size_bytes;
  return file;
}

std::map<std::string, std::string> MapOf(const SummaryMembers& members) { return {members.begin(), members.end()}; }

SnapshotCounts Merge() {
  SnapshotCounts counts;
  counts.Removed(File(10, 100));
  counts.Removed(File(20, 200));
  counts.Added(File(30, 250));
  counts.changed_partitions = {"a=1"};
  return counts;
}

TEST(SummaryOf, Merge_CountsAndNewTotals) {
  iceberg::Snapshot parent;
  parent.summary = {{"operation", "append"},
                    {"total-records", "100"},
                    {"total-files-size", "1000"},
                    {"total-data-files", "7"},
                    {"total-delete-files", "0"}};
  const auto summary = MapOf(SummaryOf(Merge(), &parent));
  EXPECT_EQ(summary.at("added-data-files"), "1");
  EXPECT_EQ(summary.at("deleted-data-files"), "2");
  EXPECT_EQ(summary.at("added-records"), "30");
  EXPECT_EQ(summary.at("deleted-records"), "30");
  EXPECT_EQ(summary.at("added-files-size"), "250");
  EXPECT_EQ(summary.at("removed-files-size"), "300");
  EXPECT_EQ(summary.at("changed-partition-count"), "1");
  EXPECT_EQ(summary.at("total-records"), "100");
  EXPECT_EQ(summary.at("total-files-size"), "950");
  EXPECT_EQ(summary.at("total-data-files"), "6");
  EXPECT_EQ(summary.at("total-delete-files"), "0");
  EXPECT_FALSE(summary.contains("total-position-deletes"));
  EXPECT_FALSE(summary.contains("added-delete-files"));
}

TEST(SummaryOf, ParentTotalMissingOrWrong_TotalIsLeftOut) {
  for (const std::string wrong : {"", "x", "12x", "-3", "1", "99999999999999999999"}) {
    iceberg::Snapshot parent;
    parent.summary = {{"total-data-files", wrong}};
    const auto summary = MapOf(SummaryOf(Merge(), &parent));
    // 1 + 1 - 2 files is a count that can be true.
    EXPECT_EQ(summary.contains("total-data-files"), wrong == "1") << wrong;
    EXPECT_FALSE(summary.contains("total-records")) << wrong;
  }
}

TEST(SummaryOf, NoParent_TotalsStartAtZero) {
  SnapshotCounts counts;
  counts.Added(File(30, 250));
  const auto summary = MapOf(SummaryOf(counts, nullptr));
  EXPECT_EQ(summary.at("total-records"), "30");
  EXPECT_EQ(summary.at("total-files-size"), "250");
  EXPECT_EQ(summary.at("total-data-files"), "1");
  EXPECT_EQ(summary.at("total-delete-files"), "0");
}

TEST(SnapshotCounts, DeleteFiles_CountedByKind) {
  iceberg::DataFile positions = File(3, 10), vector = File(4, 20), equality = File(5, 30);
  positions.content = vector.content = iceberg::FileContent::kPositionDeletes;
  vector.format = iceberg::FileFormat::kPuffin;
  equality.content = iceberg::FileContent::kEqualityDeletes;
  SnapshotCounts counts, removed;
  for (const iceberg::DataFile& file : {positions, vector, equality}) {
    counts.Added(file);
    removed.Removed(file);
  }
  counts.Merge(removed);
  const auto summary = MapOf(SummaryOf(counts, nullptr));
  for (const std::string side : {"added", "removed"}) {
    EXPECT_EQ(summary.at(side + "-delete-files"), "3");
    EXPECT_EQ(summary.at(side + "-position-delete-files"), "1");
    EXPECT_EQ(summary.at(side + "-dvs"), "1");
    EXPECT_EQ(summary.at(side + "-equality-delete-files"), "1");
    EXPECT_EQ(summary.at(side + "-position-deletes"), "7");
    EXPECT_EQ(summary.at(side + "-equality-deletes"), "5");
    EXPECT_EQ(summary.at(side + "-files-size"), "60");
  }
  EXPECT_EQ(summary.at("total-delete-files"), "0");
}

}  // namespace
}  // namespace firn::act
