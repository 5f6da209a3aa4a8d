// SPDX-License-Identifier: Apache-2.0
#include "service/sample_files.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "service/analyze.h"
#include "service/sample_experiment.h"

namespace firn::service {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

observe::Facts MakeFacts(const std::vector<std::vector<std::int64_t>>& partitions) {
  observe::Facts facts;
  facts.snapshot_id = SnapshotId{7};
  for (const auto& sizes : partitions) {
    for (const std::int64_t size : sizes) {
      observe::DataFileFacts file;
      file.partition = static_cast<std::uint32_t>(facts.partitions.size());
      file.ordinal = static_cast<std::uint32_t>(facts.files.size());
      file.size_bytes = size;
      file.record_count = 1;
      facts.files.push_back(file);
    }
    facts.partitions.emplace_back();
  }
  return facts;
}

TEST(SampleFiles, BoundedAndRepeatable) {
  const auto facts = MakeFacts(std::vector<std::vector<std::int64_t>>(50, std::vector<std::int64_t>(20, kMiB)));
  const FileSample sample = TakeSample(facts, 64 * kMiB, 1000, 512 * kMiB, Random(3));
  EXPECT_EQ(sample.bytes, 64 * kMiB);
  EXPECT_EQ(sample.facts.files.size(), 64U);
  std::map<std::uint32_t, std::int64_t> files, bytes;
  for (const auto& file : sample.facts.files) {
    ++files[file.partition];
    bytes[file.partition] += file.size_bytes;
  }
  EXPECT_EQ(sample.partitions, static_cast<std::int64_t>(files.size()));
  for (const auto& [partition, count] : files) {
    EXPECT_GE(count, 2);
    EXPECT_EQ(sample.facts.partitions[partition].file_count, count);
    EXPECT_EQ(sample.facts.partitions[partition].size_bytes, bytes[partition]);
  }
  const FileSample again = TakeSample(facts, 64 * kMiB, 1000, 512 * kMiB, Random(3));
  const FileSample other = TakeSample(facts, 64 * kMiB, 1000, 512 * kMiB, Random(4));
  const auto ordinals = [](const FileSample& from) {
    std::vector<std::uint32_t> list;
    for (const auto& file : from.facts.files) list.push_back(file.ordinal);
    return list;
  };
  EXPECT_EQ(ordinals(sample), ordinals(again));
  EXPECT_NE(ordinals(sample), ordinals(other));
  EXPECT_EQ(TakeSample(facts, 64 * kMiB, 10, 512 * kMiB, Random(3)).facts.files.size(), 10U);
}

TEST(SampleFiles, DeletesAndLargeFilesStayOut) {
  auto facts = MakeFacts({{kMiB, kMiB, kMiB, 100 * kMiB}});
  facts.files[1].flags = observe::kHasPositionDeletes;
  const FileSample sample = TakeSample(facts, 64 * kMiB, 1000, 50 * kMiB, Random(1));
  ASSERT_EQ(sample.facts.files.size(), 2U);
  EXPECT_EQ(sample.facts.files[1].ordinal, 2U);
}

TEST(SampleFiles, NothingFits_SaysWhy) {
  EXPECT_NE(TakeSample(MakeFacts({{kMiB}, {kMiB}}), 64 * kMiB, 100, kMiB * 2, Random(1)).reason.find("no partition"),
            std::string::npos);
  EXPECT_NE(TakeSample(MakeFacts({{kMiB, kMiB}}), kMiB, 100, kMiB * 2, Random(1)).reason.find("1.00 MiB"),
            std::string::npos);
  EXPECT_FALSE(TakeSample(MakeFacts({}), kMiB, 100, kMiB * 2, Random(1)).reason.empty());
}

TEST(SampleExperiment, SizesToTry_WithinTheSample_AboveTheFiles) {
  EXPECT_EQ(SizesToTry(64 * kMiB, 100'000, {32 * kMiB, 64 * kMiB, 128 * kMiB}),
            (std::vector<std::int64_t>{4 * kMiB, 16 * kMiB, 32 * kMiB, 64 * kMiB}));
  EXPECT_EQ(SizesToTry(64 * kMiB, 10 * kMiB, {512 * kMiB}), (std::vector<std::int64_t>{64 * kMiB}));
  EXPECT_TRUE(SizesToTry(kMiB, kMiB, {512 * kMiB}).empty());
}

iceberg::TableMetadata MakeMetadata(const std::string& snapshots) {
  const std::string text =
      R"j({"format-version":2,"table-uuid":"u","location":"/t","last-sequence-number":3,"last-updated-ms":0,
      "last-column-id":1,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[
        {"id":1,"name":"k","required":false,"type":"int"}]}],
      "default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,
      "default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"current-snapshot-id":3,
      "snapshots":)j" +
      snapshots + "}";
  auto metadata = iceberg::TableMetadata::Parse(AsBytes(text));
  EXPECT_TRUE(metadata.has_value()) << metadata.error().message;
  return std::move(*metadata);
}

TEST(Analyze, HistoryOf_CountsWhatOthersAdded) {
  const auto metadata = MakeMetadata(R"([
    {"snapshot-id":1,"sequence-number":1,"timestamp-ms":86400000,"manifest-list":"/l1",
     "summary":{"operation":"append","added-data-files":"2","added-files-size":"600"}},
    {"snapshot-id":2,"parent-snapshot-id":1,"sequence-number":2,"timestamp-ms":86500000,"manifest-list":"/l2",
     "summary":{"operation":"replace","added-data-files":"1","added-files-size":"500"}},
    {"snapshot-id":9,"parent-snapshot-id":1,"sequence-number":2,"timestamp-ms":86500000,"manifest-list":"/l9",
     "summary":{"operation":"append","added-data-files":"50","added-files-size":"1"}},
    {"snapshot-id":3,"parent-snapshot-id":2,"sequence-number":3,"timestamp-ms":172800000,"manifest-list":"/l3",
     "summary":{"operation":"append","added-data-files":"1","added-files-size":"x"}},
    {"snapshot-id":4,"parent-snapshot-id":3,"sequence-number":3,"timestamp-ms":259200000,"manifest-list":"/l4",
     "summary":{"operation":"append","added-data-files":"1","added-files-size":"300"}}])");
  const auto history = HistoryOf(metadata, "main");
  EXPECT_EQ(history.commits, 1) << "neither replacements, nor other branches, nor what is no number, nor later ones";
  EXPECT_EQ(history.files, 2);
  EXPECT_EQ(history.file_bytes(), 300);
  EXPECT_EQ(HistoryOf(metadata, "none").commits, 0);
}

TEST(Analyze, HistoryOf_SnapshotsThatAreTheirOwnAncestors_CountOnce) {
  const auto metadata = MakeMetadata(R"([
    {"snapshot-id":1,"parent-snapshot-id":9,"sequence-number":1,"timestamp-ms":86400000,"manifest-list":"/l1",
     "summary":{"operation":"append","added-data-files":"2","added-files-size":"600"}},
    {"snapshot-id":9,"parent-snapshot-id":1,"sequence-number":2,"timestamp-ms":86500000,"manifest-list":"/l9",
     "summary":{"operation":"append","added-data-files":"1","added-files-size":"300"}},
    {"snapshot-id":3,"parent-snapshot-id":9,"sequence-number":3,"timestamp-ms":86600000,"manifest-list":"/l3",
     "summary":{"operation":"append","added-data-files":"1","added-files-size":"100"}}])");
  const auto history = HistoryOf(metadata, "main");
  EXPECT_EQ(history.commits, 3);
  EXPECT_EQ(history.bytes, 1000);
}

TEST(Analyze, DefaultRequestSeconds_BySchemes) {
  EXPECT_EQ(DefaultRequestSeconds("file"), 0);
  EXPECT_GT(DefaultRequestSeconds("s3"), 0);
}

}  // namespace
}  // namespace firn::service
