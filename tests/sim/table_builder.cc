// SPDX-License-Identifier: Apache-2.0
#include "sim/table_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iceberg/literal.h"
#include "iceberg/manifest_writer.h"
#include "observe/manifest_scan.h"
#include "ports/location.h"

namespace firn::sim {
namespace {

using iceberg::DataFile;
using iceberg::EntryStatus;
using iceberg::FileContent;
using iceberg::ManifestContent;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;

constexpr std::string_view kLocation = "mem://wh/db/t";
constexpr int kTriesMax = 200;

struct OpenManifest {
  std::string location;
  std::unique_ptr<ports::OutputFile> file;
  std::unique_ptr<iceberg::ManifestWriter> writer;
};

Result<OpenManifest> Create(ports::FileIO& io, const iceberg::TableMetadata& metadata, SnapshotId id,
                            ManifestContent content, std::string location) {
  OpenManifest manifest;
  manifest.location = std::move(location);
  FIRN_ASSIGN(manifest.file, io.Create(manifest.location));
  iceberg::ManifestWriterOptions options;
  options.format_version = metadata.format_version();
  options.content = content;
  options.snapshot_id = id;
  FIRN_ASSIGN(manifest.writer, iceberg::ManifestWriter::Make(*manifest.file, metadata, options));
  return manifest;
}

Result<ManifestFile> Close(OpenManifest manifest) {
  FIRN_ASSIGN(ManifestFile line, manifest.writer->Finish());
  line.manifest_path = manifest.location;
  line.manifest_length = static_cast<std::int64_t>(manifest.file->position());
  FIRN_TRY(manifest.file->Close());
  return line;
}

std::vector<Row> RowsOf(std::int32_t part, const std::vector<std::int64_t>& ids) {
  std::vector<Row> rows;
  for (const std::int64_t id : ids) rows.push_back({id, part});
  return rows;
}

bool IsRemovedBy(const std::set<std::string>& data, const std::set<iceberg::FileIdentity>& deletes,
                 const DataFile& file) {
  if (file.content == FileContent::kData) return data.contains(file.file_path);
  if (file.format == iceberg::FileFormat::kPuffin && data.contains(*file.referenced_data_file)) return true;
  return deletes.contains(iceberg::IdentityOf(file));
}

std::int32_t PartOf(const DataFile& file) { return std::get<std::int32_t>(file.partition.values.at(0)); }

}  // namespace

Result<iceberg::TableMetadata> SimTable::NewMetadata(std::int32_t format_version) {
  const std::string schema =
      R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"},)"
      R"({"id":2,"name":"part","required":true,"type":"int"}]})";
  const std::string fields = R"([{"name":"part","transform":"identity","source-id":2,"field-id":1000}])";
  std::string text = fmt::format(
      R"({{"format-version":{},"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"{}",)"
      R"("last-updated-ms":1700000000000,"last-column-id":2,"current-schema-id":0,"schemas":[{}],)"
      R"("default-spec-id":0,"partition-specs":[{{"spec-id":0,"fields":{}}}],"last-partition-id":1000,)"
      R"("default-sort-order-id":0,"sort-orders":[{{"order-id":0,"fields":[]}}],"properties":{{}},"snapshots":[])",
      format_version, kLocation, schema, fields);
  if (format_version == 1) text += fmt::format(R"(,"schema":{},"partition-spec":{})", schema, fields);
  if (format_version > 1) text += R"(,"last-sequence-number":0,"refs":{})";
  if (format_version > 2) text += R"(,"next-row-id":0)";
  text += "}";
  return iceberg::TableMetadata::Parse(AsBytes(text));
}

std::string SimTable::NewName(const std::string& folder, const std::string& ending) {
  return fmt::format("{}/{}/{}{}", kLocation, folder, random_.NewUuid(), ending);
}

Result<DataFile> SimTable::NewFile(std::int32_t part, const Bytes& bytes, std::int64_t records) {
  DataFile file;
  file.file_path = NewName(fmt::format("data/part={}", part), ".parquet");
  file.format_text = "PARQUET";
  file.partition.values = {part};
  file.record_count = records;
  file.file_size_bytes = static_cast<std::int64_t>(bytes.size());
  FIRN_TRY(ports::WriteFile(io_, file.file_path, bytes));
  return file;
}

Result<std::vector<std::string>> SimTable::Append(std::int32_t part,
                                                  const std::vector<std::vector<std::int64_t>>& files) {
  Edit edit;
  edit.operation = "append";
  std::vector<std::string> paths;
  for (const std::vector<std::int64_t>& ids : files) {
    FIRN_ASSIGN(const Bytes bytes, WriteRows(RowsOf(part, ids)));
    FIRN_ASSIGN(DataFile file, NewFile(part, bytes, static_cast<std::int64_t>(ids.size())));
    const iceberg::Type long_type{.kind = iceberg::TypeKind::kLong};
    const auto [lowest, highest] = std::ranges::minmax(ids);
    file.value_counts = {{1, file.record_count}, {2, file.record_count}};
    file.null_value_counts = {{1, 0}, {2, 0}};
    file.lower_bounds = {{1, iceberg::EncodeBound(long_type, lowest)}};
    file.upper_bounds = {{1, iceberg::EncodeBound(long_type, highest)}};
    paths.push_back(file.file_path);
    edit.added_data.push_back(std::move(file));
  }
  FIRN_TRY(Commit(edit));
  return paths;
}

Result<DataFile> SimTable::FindLive(const std::string& path) {
  FIRN_ASSIGN(const ports::LoadedTable table, Load());
  const iceberg::Snapshot* head = table.metadata->current_snapshot();
  if (head == nullptr) return Error{Code::kNotFound, "the table is empty"};
  FIRN_ASSIGN(const Contents contents, List(*table.metadata, *head));
  const auto found = contents.files.find(path);
  if (found == contents.files.end()) return Error{Code::kNotFound, path + " is not live"};
  return found->second.file;
}

Status SimTable::Overwrite(const std::string& path, const std::vector<std::int64_t>& keep) {
  FIRN_ASSIGN(const DataFile old, FindLive(path));
  Edit edit;
  edit.operation = "overwrite";
  edit.removed.insert(path);
  if (!keep.empty()) {
    FIRN_ASSIGN(const Bytes bytes, WriteRows(RowsOf(PartOf(old), keep)));
    FIRN_ASSIGN(DataFile file, NewFile(PartOf(old), bytes, static_cast<std::int64_t>(keep.size())));
    edit.added_data.push_back(std::move(file));
  }
  return Commit(edit);
}

Status SimTable::RemoveFile(const std::string& path) {
  FIRN_TRY(FindLive(path));
  Edit edit;
  edit.operation = "delete";
  edit.removed.insert(path);
  return Commit(edit);
}

Status SimTable::AddAgain(const std::string& path) {
  FIRN_ASSIGN(const ports::LoadedTable table, Load());
  const iceberg::TableMetadata& metadata = *table.metadata;
  FIRN_ASSIGN(const Contents before, List(metadata, *metadata.FindSnapshot(*metadata.current_snapshot()->parent_id)));
  Edit edit;
  edit.operation = "append";
  edit.added_data.push_back(before.files.at(path).file);
  return Commit(edit);
}

Status SimTable::AddPositionDelete(const std::string& path, std::int64_t row) {
  FIRN_ASSIGN(const DataFile target, FindLive(path));
  FIRN_ASSIGN(const Bytes bytes, WritePositions({{path, row}}));
  FIRN_ASSIGN(DataFile file, NewFile(PartOf(target), bytes, 1));
  file.content = FileContent::kPositionDeletes;
  file.referenced_data_file = path;
  Edit edit;
  edit.operation = "delete";
  edit.added_deletes.push_back(std::move(file));
  return Commit(edit);
}

Status SimTable::AddEqualityDelete(std::int32_t part, const std::vector<std::int64_t>& ids) {
  FIRN_ASSIGN(const Bytes bytes, WriteIds(ids));
  FIRN_ASSIGN(DataFile file, NewFile(part, bytes, static_cast<std::int64_t>(ids.size())));
  file.content = FileContent::kEqualityDeletes;
  file.equality_ids = {1};
  Edit edit;
  edit.operation = "delete";
  edit.added_deletes.push_back(std::move(file));
  return Commit(edit);
}

Status SimTable::RewriteManifests() {
  Edit edit;
  edit.operation = "replace";
  edit.regroup = true;
  return Commit(edit);
}

Status SimTable::DropDeletes() {
  Edit edit;
  edit.operation = "replace";
  edit.drop_deletes = true;
  return Commit(edit);
}

Status SimTable::SetProperty(const std::string& key, const std::string& value) {
  FIRN_ASSIGN(const ports::LoadedTable base, Load());
  ports::TableCommit commit;
  commit.updates.push_back(iceberg::SetProperties{{{key, value}}});
  FIRN_TRY(catalog_.CommitTable(base, commit));
  return Ok();
}

Status SimTable::Upgrade() {
  FIRN_ASSIGN(const ports::LoadedTable base, Load());
  ports::TableCommit commit;
  commit.updates.push_back(iceberg::UpgradeFormatVersion{3});
  FIRN_TRY(catalog_.CommitTable(base, commit));
  return Ok();
}

Status SimTable::RollBack(SnapshotId snapshot_id) {
  FIRN_ASSIGN(const ports::LoadedTable base, Load());
  ports::TableCommit commit;
  iceberg::SnapshotRef ref;
  ref.name = "main";
  ref.snapshot_id = snapshot_id;
  commit.updates.push_back(iceberg::SetSnapshotRef{ref});
  FIRN_TRY(catalog_.CommitTable(base, commit));
  return Ok();
}

Status SimTable::Commit(const Edit& edit) {
  for (int i = 0; i < kTriesMax; ++i) {
    FIRN_ASSIGN(const ports::LoadedTable base, Load());
    FIRN_ASSIGN(const ports::TableCommit commit, Prepare(base, edit));
    const Result<ports::LoadedTable> done = catalog_.CommitTable(base, commit);
    if (done) return Ok();
    if (done.error().code != Code::kConflict) return done.error();
  }
  return Error{Code::kConflict, "a simulated writer gave up"};
}

Result<ports::TableCommit> SimTable::Prepare(const ports::LoadedTable& base, const Edit& edit) {
  const iceberg::TableMetadata& metadata = *base.metadata;
  const iceberg::Snapshot* head = metadata.current_snapshot();
  iceberg::Snapshot snapshot;
  snapshot.id = SnapshotId(static_cast<std::int64_t>(random_.Next() >> 1) | 1);
  if (head != nullptr) snapshot.parent_id = head->id;
  if (metadata.format_version() > 1) {
    snapshot.sequence_number = SequenceNumber(metadata.last_sequence_number().value + 1);
  }
  snapshot.timestamp = std::max(clock_.Now(), metadata.last_updated());
  snapshot.schema_id = metadata.current_schema().id();

  std::vector<ManifestFile> lines;
  FIRN_TRY(WriteAdded(base, snapshot.id, edit.added_data, ManifestContent::kData, lines));
  FIRN_TRY(WriteAdded(base, snapshot.id, edit.added_deletes, ManifestContent::kDeletes, lines));
  FIRN_TRY(CarryOver(base, snapshot.id, edit, lines));

  std::int64_t files = static_cast<std::int64_t>(edit.added_data.size());
  std::int64_t records = 0;
  for (const DataFile& file : edit.added_data) records += file.record_count;
  if (head != nullptr) {
    FIRN_ASSIGN(const Contents before, List(metadata, *head));
    for (const auto& [path, live] : before.files) {
      if (edit.removed.contains(path)) continue;
      ++files;
      records += live.file.record_count;
    }
  }
  snapshot.summary = {{"operation", edit.operation},
                      {"total-data-files", std::to_string(files)},
                      {"total-records", std::to_string(records)}};

  snapshot.manifest_list = NewName("metadata", "-list.avro");
  FIRN_ASSIGN(const auto file, io_.Create(snapshot.manifest_list));
  FIRN_ASSIGN(const std::int64_t next_row_id,
              iceberg::WriteManifestList(*file, metadata, snapshot.id, snapshot.parent_id, snapshot.sequence_number,
                                         metadata.next_row_id(), "deflate", lines));
  FIRN_TRY(file->Close());
  if (metadata.format_version() > 2) {
    snapshot.first_row_id = metadata.next_row_id();
    snapshot.added_rows = next_row_id - metadata.next_row_id();
  }

  ports::TableCommit commit;
  iceberg::AssertRefSnapshotId same{"main", std::nullopt};
  if (head != nullptr) same.snapshot_id = head->id;
  commit.requirements.push_back(same);
  iceberg::SnapshotRef ref;
  ref.name = "main";
  ref.snapshot_id = snapshot.id;
  commit.updates.push_back(iceberg::AddSnapshot{std::move(snapshot)});
  commit.updates.push_back(iceberg::SetSnapshotRef{ref});
  return commit;
}

Status SimTable::WriteAdded(const ports::LoadedTable& base, SnapshotId id, const std::vector<DataFile>& files,
                            ManifestContent content, std::vector<ManifestFile>& lines) {
  if (files.empty()) return Ok();
  FIRN_ASSIGN(OpenManifest manifest, Create(io_, *base.metadata, id, content, NewName("metadata", "-m.avro")));
  for (const DataFile& file : files) {
    ManifestEntry entry;
    entry.snapshot_id = id;
    entry.file = file;
    FIRN_TRY(manifest.writer->Add(entry));
  }
  FIRN_ASSIGN(lines.emplace_back(), Close(std::move(manifest)));
  return Ok();
}

Status SimTable::CarryOver(const ports::LoadedTable& base, SnapshotId id, const Edit& edit,
                           std::vector<ManifestFile>& lines) {
  const iceberg::Snapshot* head = base.metadata->current_snapshot();
  if (head == nullptr) return Ok();
  std::map<ManifestContent, OpenManifest> groups;
  FIRN_ASSIGN(const std::vector<ManifestFile> old, observe::ReadManifests(io_, *head, *base.metadata));
  for (const ManifestFile& line : old) {
    if (edit.drop_deletes && line.content == ManifestContent::kDeletes) continue;
    std::vector<ManifestEntry> entries;
    bool touched = edit.regroup && line.content == ManifestContent::kData;
    const auto add = [&](ManifestEntry& entry, std::int64_t) -> Result<bool> {
      if (entry.status == EntryStatus::kDeleted) return true;
      const bool removed = IsRemovedBy(edit.removed, edit.removed_deletes, entry.file);
      touched = touched || removed;
      entry.status = removed ? EntryStatus::kDeleted : EntryStatus::kExisting;
      if (removed) entry.snapshot_id = id;
      entries.push_back(entry);
      return true;
    };
    FIRN_TRY(observe::ForEachEntry(io_, line, *base.metadata, iceberg::Wanted::everything(), add));
    if (entries.empty()) continue;
    if (!touched) {
      lines.push_back(line);
      continue;
    }
    auto group = groups.find(line.content);
    if (group == groups.end()) {
      FIRN_ASSIGN(OpenManifest opened, Create(io_, *base.metadata, id, line.content, NewName("metadata", "-m.avro")));
      group = groups.emplace(line.content, std::move(opened)).first;
    }
    for (const ManifestEntry& entry : entries) FIRN_TRY(group->second.writer->Add(entry));
  }
  for (auto& [content, group] : groups) {
    FIRN_ASSIGN(lines.emplace_back(), Close(std::move(group)));
  }
  return Ok();
}

}  // namespace firn::sim
