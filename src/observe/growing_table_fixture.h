// SPDX-License-Identifier: Apache-2.0
//
// A table in memory that grows snapshot by snapshot, for the tests of this folder.
//
// Guarantees: ends the program when something cannot be made.
// Threads: none.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/manifest_fixture.h"
#include "iceberg/manifest_writer.h"
#include "observe/changes.h"
#include "ports/memory_file_io.h"

namespace firn::observe::fixture {

/// A table that grows snapshot by snapshot: 1, 2, 3... each with the manifests of the one before, and new ones.
class GrowingTable {
 public:
  explicit GrowingTable(int version = 2) : version_(version) {}

  void Begin() { ++last_; }
  std::int64_t last() const { return last_; }

  void AddManifest(const std::vector<iceberg::ManifestEntry>& entries,
                   iceberg::ManifestContent content = iceberg::ManifestContent::kData) {
    iceberg::ManifestWriterOptions options;
    options.content = content;
    options.snapshot_id = SnapshotId(last_);
    auto written = iceberg::fixture::Write(Metadata(), entries, options);
    written.line.manifest_path = "s3://b/t/m" + std::to_string(manifests_++) + ".avro";
    written.line.sequence_number = SequenceNumber(version_ == 1 ? 0 : last_);
    io_->Put(written.line.manifest_path, std::move(written.bytes));
    lines_.push_back(std::move(written.line));
  }

  void Commit(const std::string& operation, const std::string& summary = "") { CommitOn(parent_, operation, summary); }

  void CommitOn(std::optional<std::int64_t> parent, const std::string& operation, const std::string& summary = "") {
    MemorySink list(ListOf(last_));
    (void)iceberg::fixture::Must(iceberg::WriteManifestList(list, Metadata(), SnapshotId(last_), std::nullopt,
                                                            SequenceNumber(version_ == 1 ? 0 : last_), 0, "deflate",
                                                            lines_));
    io_->Put(ListOf(last_), std::move(list.bytes()));
    AddSnapshot(parent, operation, summary, R"("manifest-list":")" + ListOf(last_) + '"');
  }

  void CommitInline(const std::string& operation) {
    std::string text;
    for (const iceberg::ManifestFile& line : lines_) text += (text.empty() ? "\"" : ",\"") + line.manifest_path + '"';
    AddSnapshot(parent_, operation, "", R"("manifests":[)" + text + ']');
  }

  std::vector<iceberg::ManifestFile>& lines() { return lines_; }
  ports::MemoryFileIO& io() { return *io_; }
  std::map<std::int64_t, std::string>& snapshots() { return snapshots_; }
  void set_head(std::int64_t id) { head_ = id; }
  void set_refs(std::string refs) { refs_ = std::move(refs); }
  static std::string ListOf(std::int64_t id) { return "s3://b/t/snap-" + std::to_string(id) + ".avro"; }

  iceberg::TableMetadata Metadata() const {
    std::string text = iceberg::fixture::PlainTable(version_).ToJsonText();
    if (head_ == 0) return iceberg::fixture::Must(iceberg::TableMetadata::Parse(AsBytes(text)));
    text.pop_back();
    std::string list;
    for (const auto& [id, snapshot] : snapshots_) list += (list.empty() ? "" : ",") + snapshot;
    const std::string number = R"("last-sequence-number":9)";
    if (const auto at = text.find(number); at != std::string::npos) {
      text.replace(at, number.size(), R"("last-sequence-number":1000)");
    }
    text += R"(,"current-snapshot-id":)" + std::to_string(head_) + R"(,"snapshots":[)" + list + "]" + refs_ + "}";
    return iceberg::fixture::Must(iceberg::TableMetadata::Parse(AsBytes(text)));
  }

  ports::LoadedTable Loaded() const {
    ports::LoadedTable table;
    table.id = {{"db"}, "t"};
    table.metadata = std::make_shared<const iceberg::TableMetadata>(Metadata());
    return table;
  }
  Result<ChangeSet> Read(ChangesOptions options) { return ReadChanges(Loaded(), *io_, options); }
  Result<ChangeSet> Since(std::int64_t id) { return Read({.since = SnapshotId(id)}); }

 private:
  void AddSnapshot(std::optional<std::int64_t> parent, const std::string& operation, const std::string& summary,
                   const std::string& manifests) {
    std::string text = R"({"snapshot-id":)" + std::to_string(last_) + R"(,"timestamp-ms":)" +
                       std::to_string(1602638573590 + last_ * 1000) + R"(,"summary":{"operation":")" + operation + '"' +
                       summary + "}";
    if (parent) text += R"(,"parent-snapshot-id":)" + std::to_string(*parent);
    if (version_ >= 2) text += R"(,"sequence-number":)" + std::to_string(last_);
    snapshots_[last_] = text + ',' + manifests + '}';
    parent_ = head_ = last_;
  }

  int version_;
  std::unique_ptr<ports::MemoryFileIO> io_ = std::make_unique<ports::MemoryFileIO>();
  std::int64_t last_ = 0, head_ = 0;
  std::optional<std::int64_t> parent_;
  int manifests_ = 0;
  std::vector<iceberg::ManifestFile> lines_;
  std::map<std::int64_t, std::string> snapshots_;
  std::string refs_;
};

inline iceberg::DataFile Sized(const std::string& path, std::int32_t day, std::int64_t bytes) {
  iceberg::DataFile file = iceberg::fixture::PlainFile(path, day);
  file.file_size_bytes = bytes;
  return file;
}

}  // namespace firn::observe::fixture
