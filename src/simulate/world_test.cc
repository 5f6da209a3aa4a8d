// SPDX-License-Identifier: Apache-2.0
#include "simulate/world.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "simulate/trace_fixture.h"

namespace firn::simulate {
namespace {

using fixture::kMiB;
constexpr std::int64_t kHealthy = 96 * kMiB;

Commit Adds(std::uint32_t partition, const std::vector<NewFile>& files) {
  Commit commit;
  commit.partitions.resize(1);
  commit.partitions[0].partition = partition;
  commit.partitions[0].added = files;
  return commit;
}

Commit Deletes(std::uint32_t partition, DeleteKind kind, std::int64_t rows, std::vector<float> places) {
  Commit commit = Adds(partition, {});
  commit.partitions[0].deletes = kind;
  commit.partitions[0].deleted_rows = rows;
  commit.partitions[0].places = std::move(places);
  return commit;
}

void Play(World& world, Commit commit) { world.Apply(commit); }

/// All files of the partition into one.
Job MergeAll(const World& world, std::uint32_t partition, std::int32_t outputs = 1) {
  Job job;
  job.partition = partition;
  job.sequence = world.sequence(0);
  Merge& merge = job.merges.emplace_back();
  merge.outputs = outputs;
  for (const StoredFile& file : world.partition(0, partition).files) {
    merge.inputs.push_back({file.id, file.dead_rows, file.hidden_rows});
    merge.input_bytes += file.size_bytes;
  }
  merge.output_bytes = merge.input_bytes / outputs;
  return job;
}

TEST(World, DeletedRowsAreWhereTheirPlacesSay) {
  World world(1, kHealthy);
  Play(world, Adds(0, {{1000, 10}, {1000, 10}, {1000, 10}}));
  Play(world, Deletes(0, DeleteKind::kVectors, 4, {0.5F}));
  const auto& files = world.partition(0, 0).files;
  EXPECT_EQ(files[0].dead_rows, 0);
  EXPECT_EQ(files[1].dead_rows, 4);
  EXPECT_EQ(files[2].dead_rows, 0);
  EXPECT_EQ(world.totals().rows, 26);
  EXPECT_EQ(world.totals().vectors, 1);
  // More than a file has go on in older ones, and round again from the newest.
  Play(world, Deletes(0, DeleteKind::kVectors, 24, {0.0F}));
  EXPECT_EQ(world.totals().rows, 2);
  EXPECT_EQ(files[0].dead_rows, 10);
  EXPECT_EQ(files[2].dead_rows, 10);
  EXPECT_EQ(files[1].dead_rows, 8);
  EXPECT_TRUE(world.Check().has_value());
}

TEST(World, EqualityDeletesApplyToOlderFilesUntilNoneIsLeft) {
  World world(1, kHealthy);
  Play(world, Adds(0, {{1000, 10}, {1000, 10}}));
  Commit upsert = Deletes(0, DeleteKind::kEquality, 3, {0.9F});
  upsert.partitions[0].added = {{500, 3}};
  world.Apply(upsert);
  const auto& partition = world.partition(0, 0);
  EXPECT_EQ(World::EqualityDeletesOf(partition, partition.files[0]), 1);
  EXPECT_EQ(World::EqualityDeletesOf(partition, partition.files[2]), 0);
  EXPECT_EQ(world.totals().delete_reads, 2);
  EXPECT_EQ(world.totals().rows, 20);
  const Applied applied = world.Apply(MergeAll(world, 0));
  EXPECT_EQ(applied.files_replaced, 3);
  EXPECT_EQ(world.totals().rows, 20);
  EXPECT_EQ(world.totals().delete_reads, 0);
  EXPECT_EQ(world.totals().equality_deletes, 0);
  EXPECT_EQ(world.partition(0, 0).files[0].rows, 20);
  EXPECT_LT(world.totals().bytes, 2500);  // the deleted rows' bytes are gone
  EXPECT_TRUE(world.Check().has_value());
}

TEST(World, DeletesThatArriveDuringAMergeAreCarriedOver) {
  World world(1, kHealthy);
  Play(world, Adds(0, {{1000, 10}, {1000, 10}}));
  Play(world, Deletes(0, DeleteKind::kVectors, 2, {0.0F}));
  const Job job = MergeAll(world, 0);
  Play(world, Deletes(0, DeleteKind::kVectors, 5, {0.99F}));
  Play(world, Deletes(0, DeleteKind::kEquality, 1, {0.0F}));
  Play(world, Adds(0, {{700, 7}}));
  world.Apply(job);
  const auto& partition = world.partition(0, 0);
  ASSERT_EQ(partition.files.size(), 2U);
  const StoredFile& merged = partition.files[1];
  EXPECT_EQ(merged.rows, 18);  // without what the merge knew
  EXPECT_EQ(merged.dead_rows, 5);
  EXPECT_EQ(merged.hidden_rows, 1);
  EXPECT_EQ(World::EqualityDeletesOf(partition, merged), 1);
  EXPECT_EQ(World::EqualityDeletesOf(partition, partition.files[0]), 0);
  EXPECT_TRUE(world.Check().has_value());
}

TEST(World, ConvertedDeletesAreVectorsAndYoungerOnesStay) {
  World world(1, kHealthy);
  Play(world, Adds(0, {{1000, 10}, {1000, 10}}));
  Play(world, Deletes(0, DeleteKind::kEquality, 3, {0.0F}));
  Play(world, Deletes(0, DeleteKind::kEquality, 2, {0.99F}));
  Job job;
  job.sequence = world.sequence(0);
  job.converts_deletes = true;
  for (const StoredFile& file : world.partition(0, 0).files) job.targets.push_back({file.id, 0, file.hidden_rows});
  Play(world, Deletes(0, DeleteKind::kEquality, 1, {0.0F}));
  EXPECT_EQ(world.totals().delete_reads, 6);
  const Applied applied = world.Apply(job);
  EXPECT_EQ(applied.equality_deletes_removed, 2);
  EXPECT_EQ(applied.vectors_added, 2);
  EXPECT_EQ(applied.bytes_read, 20 * kKeyBytes);
  EXPECT_EQ(applied.bytes_written, 5 * kPositionBytes);
  const auto& files = world.partition(0, 0).files;
  EXPECT_EQ(files[0].dead_rows, 3);
  EXPECT_EQ(files[0].hidden_rows, 1);
  EXPECT_EQ(files[1].dead_rows, 2);
  EXPECT_EQ(world.totals().rows, 14);
  EXPECT_EQ(world.totals().delete_reads, 4);  // a vector each, and the young delete for both
  EXPECT_TRUE(world.Check().has_value());
}

TEST(World, AMergeWhoseInputWasTakenAwayIsOvertaken) {
  World world(1, kHealthy);
  Play(world, Adds(0, {{1000, 10}, {2000, 20}}));
  const Job job = MergeAll(world, 0);
  Commit removal = Adds(0, {});
  removal.partitions[0].removed_sizes = {2000};
  world.Apply(removal);
  const Applied applied = world.Apply(job);
  EXPECT_EQ(applied.overtaken, 1);
  EXPECT_EQ(applied.files_replaced, 0);
  EXPECT_EQ(world.totals().files, 1);
  EXPECT_TRUE(world.Check().has_value());
}

TEST(World, RemovalOfAMergedFileTakesItsBytes) {
  World world(1, kHealthy);
  Play(world, Adds(0, {{1000, 10}, {2000, 20}}));
  world.Apply(MergeAll(world, 0));
  Commit removal = Adds(0, {});
  removal.partitions[0].removed_sizes = {2000};
  world.Apply(removal);
  EXPECT_EQ(world.totals().files, 1);
  EXPECT_EQ(world.totals().bytes, 1000);
  EXPECT_EQ(world.totals().rows, 10);
  EXPECT_EQ(world.removals_redirected(), 1);
  EXPECT_TRUE(world.Check().has_value());
}

TEST(World, FilesWithoutRowsHaveNoSuccessor) {
  World world(1, kHealthy);
  Play(world, Adds(0, {{1000, 10}}));
  Play(world, Deletes(0, DeleteKind::kEquality, 10, {0.5F}));
  const Applied applied = world.Apply(MergeAll(world, 0));
  EXPECT_EQ(applied.files_made, 0);
  EXPECT_EQ(world.totals().files, 0);
  EXPECT_TRUE(world.Check().has_value());
}

/// Random commits and merges; the world counts itself again after each.
TEST(World, RowsAndSumsHoldWhateverHappens) {
  Random random(11);
  for (int run = 0; run < 40; ++run) {
    World world(1, kHealthy);
    std::vector<Job> waiting;
    for (int step = 0; step < 60; ++step) {
      const auto partition = static_cast<std::uint32_t>(random.Below(2));
      Commit commit = Adds(partition, {});
      for (std::uint64_t i = random.Below(4); i > 0; --i) {
        commit.partitions[0].added.push_back(
            {static_cast<std::int64_t>(1 + random.Below(200 * kMiB)), static_cast<std::int64_t>(1 + random.Below(50))});
      }
      if (random.Below(2) == 0) {
        commit.partitions[0].deletes = random.Below(2) == 0 ? DeleteKind::kVectors : DeleteKind::kEquality;
        commit.partitions[0].deleted_rows = static_cast<std::int64_t>(random.Below(40));
        commit.partitions[0].places = {static_cast<float>(random.NextUnit()), static_cast<float>(random.NextUnit())};
      }
      if (random.Below(6) == 0) commit.partitions[0].removed_sizes = {static_cast<std::int64_t>(random.Below(kMiB))};
      world.Apply(commit);
      if (random.Below(3) == 0) {
        waiting.push_back(MergeAll(world, partition, static_cast<std::int32_t>(1 + random.Below(3))));
      }
      if (!waiting.empty() && random.Below(3) == 0) {
        world.Apply(waiting.back());
        waiting.pop_back();
      }
      const Status status = world.Check();
      ASSERT_TRUE(status.has_value()) << run << " " << step << ": " << status.error().message;
    }
  }
}

}  // namespace
}  // namespace firn::simulate
