// SPDX-License-Identifier: Apache-2.0
//
// A small table in memory for the tests of this folder.
//
// Guarantees: ends the program when something cannot be made.
// Threads: none.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/manifest_fixture.h"
#include "observe/observe.h"
#include "observe/resolve.h"
#include "ports/memory_file_io.h"

namespace firn::observe::fixture {

inline constexpr const char* kList = "s3://b/t/snap.avro";

/// A table whose snapshot 77 (sequence number 9) can be given manifests.
class World {
 public:
  explicit World(int version = 2, const std::string& snapshot_members = "") : version_(version) {
    std::string snapshot = R"({"snapshot-id":77,"timestamp-ms":1602638573590,"summary":{"operation":"append"})";
    if (version >= 2) snapshot += R"(,"sequence-number":9)";
    if (version >= 3) snapshot += R"(,"first-row-id":0,"added-rows":0)";
    snapshot += snapshot_members.empty() ? R"(,"manifest-list":"s3://b/t/snap.avro"})" : snapshot_members + "}";
    std::string text = iceberg::fixture::PlainTable(version).ToJsonText();
    text.pop_back();
    text += R"(,"current-snapshot-id":77,"snapshots":[)" + snapshot + "]}";
    table_.metadata = std::make_shared<const iceberg::TableMetadata>(
        iceberg::fixture::Must(iceberg::TableMetadata::Parse(AsBytes(text))));
    table_.id = {{"db"}, "t"};
  }

  const iceberg::TableMetadata& metadata() const { return *table_.metadata; }
  ports::MemoryFileIO& io() { return io_; }
  ports::LoadedTable& table() { return table_; }
  std::vector<iceberg::ManifestFile>& lines() { return lines_; }

  void AddManifest(const std::vector<iceberg::ManifestEntry>& entries, iceberg::ManifestWriterOptions options = {}) {
    auto written = iceberg::fixture::Write(metadata(), entries, options);
    written.line.manifest_path = "s3://b/t/m" + std::to_string(lines_.size()) + ".avro";
    io_.Put(written.line.manifest_path, std::move(written.bytes));
    lines_.push_back(std::move(written.line));
  }

  void WriteList() {
    MemorySink list(kList);
    (void)iceberg::fixture::Must(iceberg::WriteManifestList(
        list, metadata(), SnapshotId(77), std::nullopt, SequenceNumber(version_ == 1 ? 0 : 9), 0, "deflate", lines_));
    io_.Put(kList, std::move(list.bytes()));
  }

  Result<Facts> Run(const ObserveOptions& options = {}) { return Observe(table_, io_, options, TimestampMs{5}); }

 private:
  int version_;
  ports::MemoryFileIO io_;
  ports::LoadedTable table_;
  std::vector<iceberg::ManifestFile> lines_;
};

inline Result<std::vector<iceberg::ManifestEntry>> ResolveFiles(const Facts& facts,
                                                                std::span<const std::uint32_t> indexes,
                                                                ports::FileIO& io,
                                                                const iceberg::TableMetadata& metadata) {
  std::vector<iceberg::ManifestEntry> entries(indexes.size());
  const auto keep = [&](std::size_t place, const iceberg::ManifestEntry& entry) -> Status {
    entries[place] = entry;
    return Ok();
  };
  FIRN_TRY(ForEachFile(facts, indexes, io, metadata, iceberg::Wanted::everything(), keep));
  return entries;
}

inline iceberg::DataFile Deletes(iceberg::FileContent content, const std::string& path, std::int32_t day = 19000) {
  iceberg::DataFile file = iceberg::fixture::PlainFile(path, day);
  file.content = content;
  if (content == iceberg::FileContent::kEqualityDeletes) file.equality_ids = {1};
  return file;
}

}  // namespace firn::observe::fixture
