// SPDX-License-Identifier: Apache-2.0
#include "observe/delete_files.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "iceberg/delete_reach.h"
#include "observe/manifest_scan.h"
#include "observe/missing_ref.h"

namespace firn::observe {
namespace {

using iceberg::DeleteEntry;
using iceberg::DeleteKind;
using iceberg::ManifestContent;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;
using iceberg::TableMetadata;

using Scope = std::pair<SpecId, std::string>;  // spec and key of the tuple

Scope ScopeOf(const iceberg::DataFile& file) { return {file.spec_id, iceberg::TupleKey(file.partition)}; }

/// What one data manifest adds.
struct ManifestPart {
  std::vector<DeleteTarget> targets;  // partitions are indexes into `tuples`
  std::vector<iceberg::PartitionTuple> tuples;
  std::map<Scope, SequenceNumber> oldest;  // data sequence number of live files
  std::vector<std::uint32_t> positional;   // deletes of positions that apply to a file
  std::unordered_map<std::string, std::uint32_t> by_tuple;
  std::int64_t files = 0;

  std::uint32_t PartitionOf(const iceberg::PartitionTuple& tuple) {
    const auto [found, is_new] =
        by_tuple.try_emplace(iceberg::TupleKey(tuple), static_cast<std::uint32_t>(tuples.size()));
    if (is_new) tuples.push_back(tuple);
    return found->second;
  }
};

class DeleteObserver {
 public:
  DeleteObserver(const TableMetadata& metadata, ports::FileIO& io, const ObserveOptions& options, DeleteFacts& facts)
      : metadata_(metadata), io_(io), options_(options), facts_(facts) {}

  Status Run(const iceberg::Snapshot& snapshot);

 private:
  Result<std::int64_t> Read(const ManifestFile& line, iceberg::Wanted wanted,
                            const std::function<void(ManifestEntry&)>& visit);
  Status ReadDeletes();
  Status ReadData(std::size_t index);
  void AddTarget(const ManifestEntry& entry, std::size_t manifest, ManifestPart& part) const;
  void Merge(ManifestPart part, SpecId spec_id);
  void Finish();
  void Report(std::int64_t entries);

  const TableMetadata& metadata_;
  ports::FileIO& io_;
  const ObserveOptions& options_;
  DeleteFacts& facts_;
  std::vector<ManifestFile> lines_;
  std::mutex mutex_;  // of everything below, and of facts_
  std::map<Scope, std::uint32_t> partitions_;
  std::map<Scope, SequenceNumber> oldest_;
  ObserveProgress progress_;
};

void DeleteObserver::Report(std::int64_t entries) {
  const std::lock_guard lock(mutex_);
  ++progress_.manifests_done;
  progress_.entries_read += entries;
  if (options_.progress) options_.progress(progress_);
}

/// Gives the live entries to `visit`; returns the number of all.
Result<std::int64_t> DeleteObserver::Read(const ManifestFile& line, iceberg::Wanted wanted,
                                          const std::function<void(ManifestEntry&)>& visit) {
  std::int64_t entries = 0;
  FIRN_TRY(ForEachEntry(io_, line, metadata_, wanted, [&](ManifestEntry& entry, std::int64_t at) -> Result<bool> {
    ++entries;
    if (entry.status == iceberg::EntryStatus::kDeleted) return true;
    if (!entry.sequence_number) return BadEntry(line, at, "live file without a sequence number");
    visit(entry);
    return true;
  }));
  return entries;
}

Status DeleteObserver::ReadDeletes() {
  std::vector<const ManifestFile*> wanted;
  for (const ManifestFile& line : lines_) {
    if (line.content == ManifestContent::kDeletes && MayHaveLiveFiles(line)) wanted.push_back(&line);
  }
  std::vector<std::vector<DeleteEntry>> found(wanted.size());
  const iceberg::Wanted columns{.metrics = false, .split_offsets = false, .position_path_bounds = true};
  const auto manifest = [&](std::size_t i) -> const ManifestFile& { return *wanted[i]; };
  FIRN_TRY(ForEachManifest(wanted.size(), options_.threads, manifest, [&](std::size_t i) -> Status {
    FIRN_ASSIGN(const std::int64_t entries, Read(*wanted[i], columns, [&](ManifestEntry& entry) {
                  found[i].push_back({entry.file, *entry.sequence_number});
                }));
    Report(entries);
    return Ok();
  }));
  for (std::vector<DeleteEntry>& entries : found) {
    for (DeleteEntry& entry : entries) {
      const bool is_global = iceberg::IsGlobal(metadata_, entry.file.spec_id);
      facts_.is_global.push_back(is_global && iceberg::KindOf(entry.file) == DeleteKind::kEquality);
      facts_.deletes.Add(std::move(entry), is_global);
    }
  }
  facts_.deletes.Build();
  facts_.is_needed.resize(facts_.deletes.entries().size());
  return Ok();
}

void DeleteObserver::AddTarget(const ManifestEntry& entry, std::size_t manifest, ManifestPart& part) const {
  const SequenceNumber number = *entry.sequence_number;
  DeleteTarget target;
  target.kinds.equality = facts_.deletes.AnyEquality(entry.file, number);
  for (const std::uint32_t index : facts_.deletes.FindPositional(entry.file, number)) {
    const bool is_vector = iceberg::KindOf(facts_.deletes.entries()[index].file) == DeleteKind::kVector;
    (is_vector ? target.kinds.vector : target.kinds.positions) = true;
    part.positional.push_back(index);
  }
  for (const std::uint32_t index : facts_.deletes.Misplaced(entry.file, number)) {
    target.is_doubtful = true;
    part.positional.push_back(index);  // some reader may apply it
  }
  if (!target.kinds.any() && !target.is_doubtful) return;
  target.path = entry.file.file_path;
  target.partition = part.PartitionOf(entry.file.partition);
  target.manifest = static_cast<std::uint32_t>(manifest);
  target.record_count = entry.file.record_count;
  target.size_bytes = entry.file.file_size_bytes;
  target.sequence_number = number;
  target.file_sequence_number = entry.file_sequence_number.value_or(SequenceNumber(0));
  target.format = entry.file.format;
  target.is_encrypted = entry.file.key_metadata.has_value();
  part.targets.push_back(std::move(target));
}

Status DeleteObserver::ReadData(std::size_t index) {
  ManifestPart part;
  const auto visit = [&](ManifestEntry& entry) {
    ++part.files;
    const auto [oldest, is_new] = part.oldest.try_emplace(ScopeOf(entry.file), *entry.sequence_number);
    if (!is_new) oldest->second = std::min(oldest->second, *entry.sequence_number);
    AddTarget(entry, index, part);
  };
  FIRN_ASSIGN(const std::int64_t entries, Read(lines_[index], iceberg::Wanted::planning(), visit));
  Merge(std::move(part), lines_[index].spec_id);
  Report(entries);
  return Ok();
}

void DeleteObserver::Merge(ManifestPart part, SpecId spec_id) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> partition_of;
  for (iceberg::PartitionTuple& tuple : part.tuples) {
    const auto [found, is_new] = partitions_.try_emplace({spec_id, iceberg::TupleKey(tuple)},
                                                         static_cast<std::uint32_t>(facts_.partitions.size()));
    partition_of.push_back(found->second);
    if (!is_new) continue;
    const iceberg::PartitionSpec* spec = metadata_.FindSpec(spec_id);
    std::string text;
    if (spec != nullptr) text = iceberg::PartitionText(*spec, metadata_.current_schema(), tuple);
    facts_.partitions.push_back({spec_id, std::move(tuple), std::move(text)});
  }
  for (DeleteTarget& target : part.targets) {
    target.partition = partition_of[target.partition];
    facts_.targets.push_back(std::move(target));
  }
  for (const auto& [scope, number] : part.oldest) {
    const auto [oldest, is_new] = oldest_.try_emplace(scope, number);
    if (!is_new) oldest->second = std::min(oldest->second, number);
  }
  for (const std::uint32_t index : part.positional) facts_.is_needed[index] = true;
  facts_.data_files += part.files;
}

/// Orders what threads have found, and finds the equality deletes that nothing is older than.
void DeleteObserver::Finish() {
  std::vector<std::uint32_t> order(facts_.partitions.size()), place(facts_.partitions.size());
  for (std::uint32_t i = 0; const auto& [scope, partition] : partitions_) order[i++] = partition;
  std::vector<DeletePartition> partitions;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    partitions.push_back(std::move(facts_.partitions[order[i]]));
  }
  facts_.partitions = std::move(partitions);
  for (DeleteTarget& target : facts_.targets) target.partition = place[target.partition];
  std::ranges::sort(facts_.targets, [](const DeleteTarget& a, const DeleteTarget& b) {
    return std::tie(a.partition, a.path, a.manifest) < std::tie(b.partition, b.path, b.manifest);
  });
  for (std::size_t i = 1; i < facts_.targets.size(); ++i) {
    DeleteTarget &before = facts_.targets[i - 1], &target = facts_.targets[i];
    if (before.path == target.path) before.is_doubtful = target.is_doubtful = true;
  }

  SequenceNumber oldest_of_all{std::numeric_limits<std::int64_t>::max()};
  for (const auto& [scope, number] : oldest_) oldest_of_all = std::min(oldest_of_all, number);
  const std::vector<DeleteEntry>& entries = facts_.deletes.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (iceberg::KindOf(entries[i].file) != DeleteKind::kEquality) continue;
    SequenceNumber oldest = oldest_of_all;
    if (!facts_.is_global[i]) {
      const auto found = oldest_.find(ScopeOf(entries[i].file));
      oldest = found == oldest_.end() ? SequenceNumber(std::numeric_limits<std::int64_t>::max()) : found->second;
    }
    facts_.is_needed[i] = oldest < entries[i].sequence_number;
  }
}

Status DeleteObserver::Run(const iceberg::Snapshot& snapshot) {
  FIRN_ASSIGN(lines_, ReadManifests(io_, snapshot, metadata_));
  std::vector<std::size_t> data;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    facts_.manifests.push_back(lines_[i].manifest_path);
    if (!MayHaveLiveFiles(lines_[i])) continue;
    ++progress_.manifests_total;
    if (lines_[i].content == ManifestContent::kData) data.push_back(i);
  }
  FIRN_TRY(ReadDeletes());
  if (facts_.deletes.empty()) return Ok();
  const auto manifest = [&](std::size_t i) -> const ManifestFile& { return lines_[data[i]]; };
  FIRN_TRY(ForEachManifest(data.size(), options_.threads, manifest, [&](std::size_t i) { return ReadData(data[i]); }));
  Finish();
  return Ok();
}

}  // namespace

Result<DeleteFacts> ObserveDeletes(const ports::LoadedTable& table, ports::FileIO& io, const ObserveOptions& options) {
  const TableMetadata& metadata = *table.metadata;
  DeleteFacts facts;
  facts.table = table.id.name.empty() ? metadata.location() : ports::ToString(table.id);
  facts.table_uuid = metadata.table_uuid();
  facts.ref = options.ref;
  facts.format_version = metadata.format_version();
  const iceberg::Snapshot* snapshot = metadata.RefSnapshot(options.ref);
  if (snapshot == nullptr) {
    if (options.ref != "main") {
      return MissingRef(metadata, options.ref).In(facts.table);
    }
    facts.deletes.Build();
    return facts;
  }
  facts.snapshot_id = snapshot->id;
  facts.sequence_number = snapshot->sequence_number;
  FIRN_TRY(DeleteObserver(metadata, io, options, facts).Run(*snapshot).In(facts.table));
  return facts;
}

}  // namespace firn::observe
