// SPDX-License-Identifier: Apache-2.0
#include "act/table_names.h"

#include <fmt/format.h>

#include <atomic>
#include <ranges>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/json/json.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

constexpr int kThreads = 4;
constexpr std::size_t kAtOnceFrom = 64;  // fewer are not worth threads

class Naming {
 public:
  Naming(ports::FileIO& io, const ports::LoadedTable& table, const NamingScope& scope,
         const std::function<bool(std::string_view)>& name)
      : io_(io), table_(table), metadata_(*table.metadata), scope_(scope), name_(name) {}

  Status Run();

 private:
  void Name(std::string_view location) {
    if (!is_done_ && !name_(location)) is_done_ = true;
  }
  void NameTexts(const json::Value& value);
  Status LeaveOutOlder();
  Status NameFilesOf(const iceberg::Snapshot& snapshot);
  Status NameEntries(const std::vector<iceberg::ManifestFile>& manifests);
  Status CountLines(std::size_t lines);
  Status CountManifests(const std::vector<iceberg::ManifestFile>& manifests);

  ports::FileIO& io_;
  const ports::LoadedTable& table_;
  const iceberg::TableMetadata& metadata_;
  const NamingScope& scope_;
  const std::function<bool(std::string_view)>& name_;
  std::atomic<bool> is_done_ = false;
  std::unordered_set<SnapshotId> older_;
  std::unordered_set<std::string> manifests_seen_;
  std::int64_t lines_ = 0, manifests_ = 0, manifest_bytes_ = 0;
};

/// Whatever the metadata calls it: a location more is no harm.
void Naming::NameTexts(const json::Value& value) {
  if (const std::string* text = value.AsString()) return Name(*text);
  for (const json::Value& element : value.elements()) NameTexts(element);
  for (const auto& [key, member] : value.members()) NameTexts(member);
}

Status Naming::CountLines(std::size_t lines) {
  lines_ += static_cast<std::int64_t>(lines);
  if (lines_ <= scope_.limits.list_lines_max) return Ok();
  return Error{Code::kLimit, fmt::format("manifest lists of the table's snapshots have more than {} lines together",
                                         scope_.limits.list_lines_max)};
}

Status Naming::CountManifests(const std::vector<iceberg::ManifestFile>& manifests) {
  manifests_ += static_cast<std::int64_t>(manifests.size());
  for (const iceberg::ManifestFile& manifest : manifests) manifest_bytes_ += manifest.manifest_length;
  if (manifests_ <= scope_.limits.manifests_max && manifest_bytes_ <= scope_.limits.manifest_bytes_max) return Ok();
  return Error{Code::kLimit, fmt::format("more than {} manifests or {} bytes of them would have to be read",
                                         scope_.limits.manifests_max, scope_.limits.manifest_bytes_max)};
}

Status Naming::LeaveOutOlder() {
  if (!scope_.made_after) return Ok();
  const iceberg::Snapshot* const head = metadata_.FindSnapshot(*scope_.made_after);
  if (head == nullptr) return Ok();
  for (const iceberg::Snapshot* snapshot = head; snapshot != nullptr && older_.insert(snapshot->id).second;) {
    snapshot = snapshot->parent_id ? metadata_.FindSnapshot(*snapshot->parent_id) : nullptr;
  }
  if (older_.size() == metadata_.snapshots().size()) return Ok();
  FIRN_ASSIGN(auto lines, observe::ReadManifests(io_, *head, metadata_));
  FIRN_TRY(CountLines(lines.size()));
  for (iceberg::ManifestFile& line : lines) manifests_seen_.insert(std::move(line.manifest_path));
  return Ok();
}

Status Naming::NameEntries(const std::vector<iceberg::ManifestFile>& manifests) {
  FIRN_TRY(CountManifests(manifests));
  const auto read = [&](std::size_t i) {
    return is_done_ ? Ok()
                    : observe::ForEachEntry(io_, manifests[i], metadata_, iceberg::Wanted::planning(),
                                            [this](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                              Name(entry.file.file_path);
                                              return !is_done_;
                                            });
  };
  return observe::ForEachManifest(
      manifests.size(), manifests.size() < kAtOnceFrom ? 1 : kThreads,
      [&](std::size_t i) -> const iceberg::ManifestFile& { return manifests[i]; }, read);
}

Status Naming::NameFilesOf(const iceberg::Snapshot& snapshot) {
  FIRN_ASSIGN(auto lines, observe::ReadManifests(io_, snapshot, metadata_));
  FIRN_TRY(CountLines(lines.size()));
  std::erase_if(lines, [this](const auto& line) { return !manifests_seen_.insert(line.manifest_path).second; });
  for (const iceberg::ManifestFile& line : lines) Name(line.manifest_path);
  return scope_.entries && !is_done_ ? NameEntries(lines) : Ok();
}

Status Naming::Run() {
  Name(table_.metadata_location);
  NameTexts(metadata_.tree());
  if (is_done_ || (!scope_.manifests && !scope_.entries)) return Ok();
  FIRN_TRY(LeaveOutOlder());
  // From the last one: it names most.
  for (const iceberg::Snapshot& snapshot : std::views::reverse(metadata_.snapshots())) {
    if (is_done_) return Ok();
    if (!older_.contains(snapshot.id)) FIRN_TRY(NameFilesOf(snapshot));
  }
  return Ok();
}

}  // namespace

Status NameAll(ports::FileIO& io, const ports::LoadedTable& table, const NamingScope& scope,
               const std::function<bool(std::string_view)>& name) {
  return Naming(io, table, scope, name).Run();
}

}  // namespace firn::act
