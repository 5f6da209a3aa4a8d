// SPDX-License-Identifier: Apache-2.0
#include "simulate/synthetic_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace firn::simulate {
namespace {

constexpr TimestampMs kStart{1'000'000'000'000};

Workload Small(std::string_view name) {
  auto workload = FindWorkload(name);
  EXPECT_TRUE(workload.has_value());
  workload->tables = std::min(workload->tables, 12);
  workload->hours = std::min(workload->hours, 8.0);
  return *workload;
}

std::string TextOf(const Commit& commit) {
  std::string text = fmt::format("{} t{}:", commit.at.value, commit.table);
  for (const auto& partition : commit.partitions) {
    text += fmt::format(" p{} {}/{}", partition.partition, static_cast<int>(partition.deletes), partition.deleted_rows);
    for (const auto& file : partition.added) text += fmt::format(" {},{}", file.size_bytes, file.rows);
    for (const float place : partition.places) text += fmt::format(" @{}", place);
  }
  return text;
}

std::vector<Commit> All(const Workload& workload, std::uint64_t seed) {
  SyntheticTrace trace(workload, seed, kStart);
  std::vector<Commit> commits;
  Commit commit;
  while (trace.Next(commit)) commits.push_back(commit);
  return commits;
}

std::vector<std::string> Texts(const std::vector<Commit>& commits, std::uint32_t tables = UINT32_MAX) {
  std::vector<std::string> texts;
  for (const Commit& commit : commits) {
    if (commit.table < tables) texts.push_back(TextOf(commit));
  }
  return texts;
}

TEST(SyntheticTrace, SameSeedSameCommits) {
  for (const Workload& named : Workloads()) {
    const Workload workload = Small(named.name);
    const auto first = Texts(All(workload, 7));
    EXPECT_FALSE(first.empty()) << named.name;
    EXPECT_EQ(first, Texts(All(workload, 7))) << named.name;
    EXPECT_NE(first, Texts(All(workload, 8))) << named.name;
  }
}

TEST(SyntheticTrace, CommitsAreInOrderAndInsideTheHours) {
  for (const Workload& named : Workloads()) {
    const Workload workload = Small(named.name);
    std::int64_t before = kStart.value;
    for (const Commit& commit : All(workload, 3)) {
      EXPECT_LE(before, commit.at.value);
      before = commit.at.value;
      EXPECT_LT(commit.table, static_cast<std::uint32_t>(workload.tables));
      ASSERT_FALSE(commit.partitions.empty());
      for (const auto& partition : commit.partitions) {
        EXPECT_FALSE(partition.added.empty());
        for (const auto& file : partition.added) EXPECT_TRUE(file.size_bytes > 0 && file.rows > 0);
      }
    }
    EXPECT_LT(before, kStart.value + static_cast<std::int64_t>(workload.hours * 3.6e6));
  }
}

TEST(SyntheticTrace, MoreTablesLeaveTheOthersAsTheyAre) {
  Workload workload = Small("streaming-late");
  workload.tables = 4;
  const auto few = Texts(All(workload, 5));
  workload.tables = 9;
  EXPECT_EQ(few, Texts(All(workload, 5), 4));
}

TEST(SyntheticTrace, CommitsAreAsFrequentAsTheWorkloadSays) {
  Workload workload = Small("steady-wide");
  workload.tables = 20;
  workload.hours = 24;
  const double wanted = workload.tables * workload.hours * 3600 / workload.commit_seconds;
  EXPECT_NEAR(static_cast<double>(All(workload, 1).size()), wanted, 0.05 * wanted);
}

TEST(SyntheticTrace, BurstsHaveTheirFactor) {
  Workload workload = Small("bursty");
  workload.tables = 30;
  workload.hours = 96;
  workload.commit_spread = 0;
  const double quiet_hours = workload.burst_every_hours - workload.burst_hours;
  const double mean = (quiet_hours + workload.burst_factor * workload.burst_hours) / workload.burst_every_hours;
  const double wanted = mean * workload.tables * workload.hours * 3600 / workload.commit_seconds;
  EXPECT_NEAR(static_cast<double>(All(workload, 1).size()), wanted, 0.1 * wanted);
}

TEST(SyntheticTrace, LateRowsGoToOlderPartitions) {
  Workload workload = Small("streaming-late");
  workload.hours = 20;  // inside the first slot after the history
  std::int64_t late = 0, commits = 0;
  for (const Commit& commit : All(workload, 2)) {
    if (commit.at == kStart) continue;  // the history
    ++commits;
    for (const auto& partition : commit.partitions) {
      const auto slot = static_cast<std::int32_t>(partition.partition) / workload.buckets;
      EXPECT_LE(slot, workload.history_slots);
      late += slot < workload.history_slots ? 1 : 0;
    }
  }
  const double wanted = workload.late_partitions * static_cast<double>(commits);
  EXPECT_NEAR(static_cast<double>(late), wanted, 0.15 * wanted);
}

TEST(SyntheticTrace, SizesHaveTheirMedian) {
  const Workload workload = Small("steady-wide");
  std::int64_t below = 0, all = 0;
  for (const Commit& commit : All(workload, 2)) {
    for (const auto& partition : commit.partitions) {
      if (commit.at == kStart || partition.partition / 64 < 3) continue;
      for (const auto& file : partition.added) {
        ++all;
        below += file.size_bytes < workload.file_bytes ? 1 : 0;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(below) / static_cast<double>(all), 0.5, 0.02);
}

TEST(SyntheticTrace, UpsertsDeleteRows) {
  for (const auto& [name, kind] :
       {std::pair{"upserts", DeleteKind::kVectors}, {"upserts-by-key", DeleteKind::kEquality}}) {
    std::int64_t deletes = 0, all = 0;
    for (const Commit& commit : All(Small(name), 2)) {
      for (const auto& partition : commit.partitions) {
        ++all;
        if (partition.deletes == DeleteKind::kNone) continue;
        ++deletes;
        EXPECT_EQ(partition.deletes, kind);
        EXPECT_FALSE(partition.places.empty());
      }
    }
    EXPECT_NEAR(static_cast<double>(deletes) / static_cast<double>(all), 0.8, 0.05);
  }
}

TEST(Workload, UnknownNamesAndSenselessNumbersAreErrors) {
  const auto unknown = FindWorkload("streaming");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, Code::kInvalidArgument);
  EXPECT_NE(unknown.error().message.find("steady-wide"), std::string::npos);
  for (const Workload& workload : Workloads()) EXPECT_TRUE(CheckWorkload(workload).has_value()) << workload.name;
  Workload workload = Small("bursty");
  workload.hours = std::nan("");
  EXPECT_EQ(CheckWorkload(workload).error().code, Code::kInvalidArgument);
  workload = Small("bursty");
  workload.tables = 0;
  EXPECT_NE(CheckWorkload(workload).error().message.find("tables"), std::string::npos);
}

}  // namespace
}  // namespace firn::simulate
