// SPDX-License-Identifier: Apache-2.0
#include "act/leftovers.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <set>
#include <unordered_set>
#include <utility>

#include "act/data_location.h"
#include "act/run_files.h"
#include "ports/location.h"
#include "ports/metadata_file.h"

namespace firn::act {
namespace {

class Sweep {
 public:
  Sweep(ports::FileIO& io, const ports::LoadedTable& table, const RunMark& mark, const SweepOptions& options)
      : io_(io), table_(table), metadata_(*table.metadata), mark_(mark), options_(options) {}

  Result<SweptRun> Run();

 private:
  Status Find();
  Status FindIn(const std::string& folder);
  RunFileKind KindOf(std::string_view name) const;
  bool Name(std::string_view location);
  bool IsAnyLeft() const { return !is_complete_ || !found_.empty() || !signs_.empty(); }
  NamingScope ScopeOfFound() const;
  Status LeaveOutNamed();

  ports::FileIO& io_;
  const ports::LoadedTable& table_;
  const iceberg::TableMetadata& metadata_;
  const RunMark& mark_;
  const SweepOptions& options_;
  bool is_complete_ = true;
  std::mutex mutex_;  // of what follows, while the table's names come from several threads
  // Locations by name: names are unique, and how a location is written is not.
  std::map<std::string, std::string> found_;  // at most files_max
  std::map<std::string, std::string> signs_;  // of a commit, all of them: a few an attempt
  std::unordered_set<std::string> named_;     // the run's own, if there are more than files_max
};

/// Files that are written before a request is sent: unnamed, they say that it may be on its way.
bool IsSignOfCommit(RunFileKind kind) { return kind == RunFileKind::kMetadata || kind == RunFileKind::kManifestList; }

RunFileKind Sweep::KindOf(std::string_view name) const {
  const RunFileKind kind = act::KindOf(name, mark_);
  return kind == RunFileKind::kTemporary && !options_.temporary_names ? RunFileKind::kNone : kind;
}

Status Sweep::FindIn(const std::string& folder) {
  std::string page;
  do {
    FIRN_ASSIGN(ports::ListPage list, io_.List(folder, page));
    for (ports::FileInfo& file : list.files) {
      const std::string name(ports::FileNameOf(file.location));
      const RunFileKind kind = KindOf(name);
      if (kind == RunFileKind::kNone || named_.contains(name)) continue;
      if (IsSignOfCommit(kind)) {
        signs_.emplace(name, std::move(file.location));
      } else if (found_.size() < options_.files_max || found_.contains(name)) {
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

bool Sweep::Name(std::string_view location) {
  const std::string_view name = ports::FileNameOf(location);
  if (KindOf(name) == RunFileKind::kNone) return true;
  const std::lock_guard lock(mutex_);
  const std::string own(name);
  found_.erase(own);
  signs_.erase(own);
  if (!is_complete_) named_.insert(own);
  return IsAnyLeft();
}

/// Who can name files of the kinds that were found.
NamingScope Sweep::ScopeOfFound() const {
  NamingScope scope{.manifests = !is_complete_, .entries = !is_complete_, .limits = options_.limits};
  for (const auto& [name, location] : found_) {
    scope.manifests = true;
    scope.entries = scope.entries || KindOf(name) != RunFileKind::kManifest;
  }
  // Only where it is certain that the name was not known before: a mark that says something else counts for nothing.
  if (IsNamedByContent(mark_)) scope.made_after = mark_.base_snapshot_id;
  return scope;
}

Status Sweep::LeaveOutNamed() {
  if (!IsAnyLeft()) return Ok();
  const std::size_t count = found_.size() + signs_.size();
  const std::string example = found_.empty() ? signs_.begin()->second : found_.begin()->second;
  const auto name = [this](std::string_view location) { return Name(location); };
  if (Status named = NameAll(io_, table_, ScopeOfFound(), name); !named) {
    return std::move(named.error())
        .In(fmt::format("{} files, such as {}: it is not certain that nothing names them", count, example));
  }
  if (is_complete_) return Ok();
  // Files of commits took the places of others.
  is_complete_ = true;
  return Find();
}

Result<SweptRun> Sweep::Run() {
  FIRN_TRY(Find());
  FIRN_TRY(LeaveOutNamed());
  SweptRun swept;
  swept.is_done = is_complete_;
  const bool stays = !options_.is_fenced && !signs_.empty();
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

Result<SweptRun> SweepRun(ports::FileIO& io, const ports::LoadedTable& table, const RunMark& mark,
                          const SweepOptions& options) {
  return Sweep(io, table, mark, options).Run();
}

}  // namespace firn::act
