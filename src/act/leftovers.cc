// SPDX-License-Identifier: Apache-2.0
#include "act/leftovers.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_set>

#include "act/data_location.h"
#include "observe/manifest_scan.h"
#include "ports/location.h"
#include "ports/metadata_file.h"

namespace firn::act {
namespace {

/// Files that are written before a request is sent: unnamed, they say that it may be on its way.
bool IsSignOfCommit(std::string_view name) {
  return ports::IsMetadataFileName(name) || (name.starts_with("snap-") && name.ends_with(".avro"));
}

class Sweep {
 public:
  Sweep(ports::FileIO& io, const ports::LoadedTable& table, const RunMark& mark, bool temporary_names,
        std::size_t files_max)
      : io_(io),
        table_(table),
        metadata_(*table.metadata),
        mark_(mark),
        temporary_names_(temporary_names),
        files_max_(files_max) {}

  Result<SweptRun> Run(bool is_fenced);

 private:
  Status Find();
  Status FindIn(const std::string& folder);
  bool IsOwn(std::string_view name) const;
  void Name(std::string_view location);
  Status NameAllThatIsNamed();
  Status NameFilesOf(const iceberg::Snapshot& snapshot);
  bool IsOlder(SequenceNumber number) const;
  Status NameAndFindRest();

  ports::FileIO& io_;
  const ports::LoadedTable& table_;
  const iceberg::TableMetadata& metadata_;
  const RunMark& mark_;
  bool temporary_names_;
  std::size_t files_max_;
  bool is_complete_ = true;
  // Locations by name: names are unique, and how a location is written is not.
  std::map<std::string, std::string> found_;  // at most files_max_
  std::map<std::string, std::string> signs_;  // of a commit, all of them: a few an attempt
  std::unordered_set<std::string> named_;     // the run's own, if there are more than files_max_
  std::unordered_set<std::string> manifests_read_;
};

bool Sweep::IsOwn(std::string_view name) const {
  if (name == MarkLocation("", mark_.run, false) || name == MarkLocation("", mark_.run, true)) return false;
  if (name.find(mark_.run) != std::string_view::npos) return true;
  // A number alone may be in use elsewhere, on a file system that machines or containers share.
  return temporary_names_ && !mark_.token.empty() && name.ends_with(".tmp") &&
         name.starts_with(fmt::format(".firn-{}-{}-", mark_.writer.pid, mark_.token));
}

Status Sweep::FindIn(const std::string& folder) {
  std::string page;
  do {
    FIRN_ASSIGN(ports::ListPage list, io_.List(folder, page));
    for (ports::FileInfo& file : list.files) {
      const std::string name(ports::FileNameOf(file.location));
      if (!IsOwn(name) || named_.contains(name)) continue;
      if (IsSignOfCommit(name)) {
        signs_.emplace(name, std::move(file.location));
      } else if (found_.size() < files_max_ || found_.contains(name)) {
        found_.emplace(name, std::move(file.location));
      } else {
        is_complete_ = false;  // the listing goes on all the same: signs of a commit may come at its end
      }
    }
    page = std::move(list.next_page);
  } while (!page.empty());
  return Ok();
}

Status Sweep::Find() {
  std::set<std::string> folders{ports::AsPrefix(ports::MetadataFolder(metadata_))};
  // Where new files go cannot be known with a class of somebody's own: firn did not write there either.
  if (const auto locations = DataLocations::For(metadata_)) folders.insert(ports::AsPrefix(locations->folder()));
  for (const std::string& folder : folders) FIRN_TRY(FindIn(folder));
  return Ok();
}

void Sweep::Name(std::string_view location) {
  const std::string name(ports::FileNameOf(location));
  found_.erase(name);
  signs_.erase(name);
  if (!is_complete_ && IsOwn(name)) named_.insert(name);
}

/// Written before the run began: nothing of it can be in there.
bool Sweep::IsOlder(SequenceNumber number) const {
  return mark_.sequence_number && mark_.table_uuid == metadata_.table_uuid() && number <= *mark_.sequence_number;
}

Status Sweep::NameFilesOf(const iceberg::Snapshot& snapshot) {
  Name(snapshot.manifest_list);
  FIRN_ASSIGN(const auto lines, observe::ReadManifests(io_, snapshot, metadata_));
  for (const iceberg::ManifestFile& line : lines) {
    if (IsOlder(line.sequence_number) || !manifests_read_.insert(line.manifest_path).second) continue;
    Name(line.manifest_path);
    FIRN_TRY(observe::ForEachEntry(io_, line, metadata_, iceberg::Wanted::planning(),
                                   [this](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                     Name(entry.file.file_path);
                                     return !is_complete_ || !found_.empty() || !signs_.empty();
                                   }));
  }
  return Ok();
}

Status Sweep::NameAllThatIsNamed() {
  Name(table_.metadata_location);
  for (const std::string& location : metadata_.metadata_log()) Name(location);
  for (const iceberg::Snapshot& snapshot : metadata_.snapshots()) {
    if (is_complete_ && found_.empty() && signs_.empty()) return Ok();
    if (!IsOlder(snapshot.sequence_number)) FIRN_TRY(NameFilesOf(snapshot));
  }
  return Ok();
}

Status Sweep::NameAndFindRest() {
  if (found_.empty() && signs_.empty()) return Ok();
  FIRN_TRY(NameAllThatIsNamed());
  if (is_complete_) return Ok();
  // Files of commits took the places of others.
  is_complete_ = true;
  return Find();
}

Result<SweptRun> Sweep::Run(bool is_fenced) {
  FIRN_TRY(Find());
  FIRN_TRY(NameAndFindRest());
  SweptRun swept;
  swept.is_done = is_complete_;
  const bool stays = !is_fenced && !signs_.empty();
  found_.merge(signs_);
  for (const auto& [name, location] : found_) {
    if (!stays && io_.Delete(location)) {
      ++swept.removed;
    } else {
      swept.kept.push_back(location);
      swept.is_done = false;
    }
  }
  return swept;
}

}  // namespace

Result<SweptRun> SweepRun(ports::FileIO& io, const ports::LoadedTable& table, const RunMark& mark, bool is_fenced,
                          bool temporary_names, std::size_t files_max) {
  return Sweep(io, table, mark, temporary_names, files_max).Run(is_fenced);
}

}  // namespace firn::act
