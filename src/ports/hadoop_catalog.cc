// SPDX-License-Identifier: Apache-2.0
#include "ports/hadoop_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/log.h"
#include "base/text_parts.h"
#include "ports/hadoop_versions.h"
#include "ports/location.h"
#include "ports/metadata_file.h"
#include "ports/table_identity.h"

namespace firn::ports {
namespace {

constexpr int kNamespaceDepthMax = 16;

/// Adds the tables below `path`; directories that cannot be read have none.
void AddTables(const std::filesystem::path& path, std::vector<std::string>& names, int depth,
               std::vector<TableIdentifier>& found) {
  std::error_code fault;
  for (std::filesystem::directory_iterator at(path, fault), end; !fault && at != end; at.increment(fault)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (!at->is_directory(ignored) || at->is_symlink(ignored) || name.starts_with('.')) continue;
    if (std::filesystem::is_directory(at->path() / "metadata", ignored)) {
      found.push_back({names, name});
    } else if (depth < kNamespaceDepthMax) {
      names.push_back(name);
      AddTables(at->path(), names, depth + 1, found);
      names.pop_back();
    }
  }
}

/// Object stores have no directories: the names of all objects are read.
Result<std::vector<TableIdentifier>> TablesInStore(FileIO& io, const std::string& warehouse) {
  constexpr std::string_view kFolder = "/metadata";
  const std::string prefix = AsPrefix(warehouse);
  std::set<std::string> directories;
  std::string page;
  do {
    FIRN_ASSIGN(const ListPage listed, io.List(prefix, page));
    for (const FileInfo& file : listed.files) {
      const std::string_view folder = ParentOf(file.location);
      if (!HadoopVersionNumber(file.location) || !folder.ends_with(kFolder)) continue;
      if (folder.size() <= prefix.size() + kFolder.size()) continue;
      directories.emplace(folder.substr(prefix.size(), folder.size() - prefix.size() - kFolder.size()));
    }
    page = listed.next_page;
  } while (!page.empty());
  std::vector<TableIdentifier> found;
  for (const std::string& directory : directories) {
    TableIdentifier id;
    for (const std::string_view part : Split(directory, '/')) {
      if (!id.name.empty()) id.name_space.push_back(std::move(id.name));
      id.name = part;
    }
    found.push_back(std::move(id));
  }
  return found;
}

}  // namespace

bool SameDirectory(const std::string& a, const std::string& b) {
  if (SamePlace(a, b)) return true;
  const auto path_a = LocalPathOf(a), path_b = LocalPathOf(b);
  if (!path_a || !path_b) return false;
  std::error_code fault;
  return std::filesystem::equivalent(*path_a, *path_b, fault) && !fault;
}

Result<std::shared_ptr<Catalog>> HadoopCatalog::Open(std::string name, const Properties& properties,
                                                     const FileIOFactory& make_io, Clock& clock) {
  std::string warehouse = PropertyOr(properties, "warehouse", "");
  FIRN_ASSIGN(auto io, make_io(properties));
  return std::shared_ptr<Catalog>(
      new HadoopCatalog(std::move(name), std::string(WithoutSlash(warehouse)), std::move(io), clock));
}

Result<std::string> HadoopCatalog::DirectoryOf(const TableIdentifier& id) const {
  if (id.name_space.empty()) {
    return std::string(WithoutSlash(id.name));
  }
  if (warehouse_.empty()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("table `{}`: catalog `{}` has no property `warehouse`", ToString(id), name_)};
  }
  std::string directory = warehouse_;
  std::vector<std::string> parts = id.name_space;
  parts.push_back(id.name);
  for (const std::string& part : parts) {
    if (part.empty() || part == "." || part == ".." || part.find('/') != std::string::npos) {
      return Error{Code::kInvalidArgument, fmt::format("`{}` is no name of a table directory", ToString(id))};
    }
    directory = Join(directory, part);
  }
  return directory;
}

Result<LoadedTable> HadoopCatalog::LoadTable(const TableIdentifier& id) {
  FIRN_ASSIGN(const std::string directory, DirectoryOf(id));
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    auto current = CurrentHadoopVersion(*io_, Join(directory, "metadata"));
    if (!current) return std::move(current.error()).In(ToString(id));
    auto metadata = ReadMetadataFile(*io_, current->location);
    if (metadata) {
      const std::string& root = (*metadata)->location();
      std::string location = std::move(current->location);
      // Written the way the table writes its own location, for the metadata-log of the next version.
      if (SameDirectory(root, directory)) location = Join(WithoutSlash(root), location.substr(directory.size() + 1));
      return LoadedTable{id, std::move(location), std::move(*metadata), {}};
    }
    // Another writer may have removed the version between looking and reading.
    if (metadata.error().code != Code::kNotFound || i == kTries) return std::move(metadata.error()).In(ToString(id));
  }
}

Status HadoopCatalog::CheckUnmoved(const LoadedTable& table) const {
  FIRN_ASSIGN(const std::string directory, DirectoryOf(table.id));
  return CheckPlace(table, directory, *table.metadata);
}

Status HadoopCatalog::CheckWritable(const LoadedTable& table) const {
  FIRN_TRY(CheckUnmoved(table));
  return io_->CheckExclusive(table.metadata_location).In(ToString(table.id));
}

Status HadoopCatalog::CheckPlace(const LoadedTable& base, const std::string& directory,
                                 const iceberg::TableMetadata& updated) const {
  if (!SameDirectory(updated.location(), directory)) {
    return Error{Code::kUnsupported, fmt::format("{}: the table was moved: its metadata says {}; it can only be read",
                                                 ToString(base.id), updated.location())};
  }
  if (!updated.Property("write.metadata.path", "").empty()) {
    return Error{Code::kUnsupported, fmt::format("{}: table property write.metadata.path does not go together with "
                                                 "a table that is a directory",
                                                 ToString(base.id))};
  }
  return Ok();
}

Result<LoadedTable> HadoopCatalog::CommitTable(const LoadedTable& base, const TableCommit& commit) {
  const std::string table = ToString(base.id);
  FIRN_ASSIGN(const std::string directory, DirectoryOf(base.id));
  const auto base_version = HadoopVersionNumber(base.metadata_location);
  if (!base_version) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: {} is no version of a directory table", table, base.metadata_location)};
  }
  if (Status held = iceberg::CheckRequirements(*base.metadata, commit.requirements); !held) {
    return std::move(held.error()).In(table);
  }
  auto updated = iceberg::ApplyUpdates(*base.metadata, base.metadata_location, commit.updates, clock_.Now());
  if (!updated) return std::move(updated.error()).In(table);
  FIRN_TRY(CheckPlace(base, directory, *updated));
  FIRN_TRY(io_->CheckExclusive(base.metadata_location).In(table));
  // The codec of the base, not of the update: all who commit on this base then contend for the same name.
  FIRN_ASSIGN(const MetadataCodec updated_codec, CodecOf(*updated));
  const MetadataCodec codec = CodecOf(*base.metadata).value_or(updated_codec);
  FIRN_ASSIGN(const Bytes bytes, EncodeMetadata(*updated, codec));
  const std::string folder(ParentOf(base.metadata_location));
  const std::int64_t version = *base_version + 1;
  const std::string location =
      Join(folder, fmt::format("v{}{}.metadata.json", version, codec == MetadataCodec::kGzip ? ".gz" : ""));
  if (Status done = Publish(base, location, version, bytes); !done) return std::move(done.error()).In(table);
  WriteHint(folder, version);
  return LoadedTable{base.id, location, std::make_shared<const iceberg::TableMetadata>(std::move(*updated)), {}};
}

Status HadoopCatalog::Publish(const LoadedTable& base, const std::string& location, std::int64_t version,
                              ByteView bytes) {
  const std::string folder(ParentOf(location));
  FIRN_ASSIGN(const HadoopVersion current, CurrentHadoopVersion(*io_, folder));
  FIRN_ASSIGN(const auto metadata, ReadMetadataFile(*io_, current.location));
  FIRN_TRY(CheckSameTable(*base.metadata, *metadata));
  // A table that was dropped and made again can be at the same version, and old tables have no uuid.
  if (current.location != base.metadata_location || metadata->tree() != base.metadata->tree()) {
    return Error{Code::kConflict, fmt::format("another commit came first: version {} is current", current.number)};
  }
  if (Status written = WriteFile(*io_, location, bytes); !written) {
    if (written.error().code == Code::kConflict) {
      written.error().message = fmt::format("another commit came first: version {} exists", version);
      // Object stores have compared the bytes. NFS may say of a link that it repeats that the name is taken.
      if (!LocalPathOf(location)) return written;
    }
    return SettleFailedWrite(location, bytes, std::move(written.error()));
  }
  return ConfirmVisible(base, location, version);
}

/// Two ways to have made a version that nobody will read: its number was taken under the name of the other codec, or
/// so many versions came since that the base was removed and the number had become free again. Both can also have
/// happened after others built on ours, so only a look into the newest version tells.
Status HadoopCatalog::ConfirmVisible(const LoadedTable& base, const std::string& location, std::int64_t version) {
  const auto visible = FindHadoopVersion(*io_, std::string(ParentOf(location)), version);
  const auto base_stands = io_->Exists(base.metadata_location);
  if (visible && *visible == location && base_stands && *base_stands) return Ok();
  return Error{Code::kOutcomeUnknown,
               fmt::format("version {} was made, but may not be in the table's history", version)};
}

/// The appearance of the name is the commit, and others may have built on it by now: it is never removed.
Error HadoopCatalog::SettleFailedWrite(const std::string& location, ByteView bytes, Error failure) {
  const auto exists = io_->Exists(location);
  // A request without an answer may still be on its way to an object store.
  const bool may_come = !LocalPathOf(location) && failure.code == Code::kUnavailable;
  if (exists && !*exists && !may_come) return failure;
  const auto found = ReadFile(*io_, location, kMetadataBytesMax);
  if (found && !std::ranges::equal(*found, bytes)) {
    return failure.code == Code::kConflict ? failure : Error{Code::kConflict, "another commit came first"};
  }
  // If it is there, it may not be durable yet.
  failure.code = Code::kOutcomeUnknown;
  return failure;
}

void HadoopCatalog::WriteHint(const std::string& folder, std::int64_t version) {
  const std::string hint = Join(folder, "version-hint.text");
  if (ReadVersionHint(*io_, folder).value_or(-1) >= version) return;
  // Java's local file system keeps a checksum beside the hint, and refuses a hint that does not match it.
  if (const auto path = LocalPathOf(hint)) {
    std::error_code ignored;
    std::filesystem::remove(Join(ParentOf(*path), ".version-hint.text.crc"), ignored);
  }
  if (Status written = io_->Replace(hint, AsBytes(std::to_string(version))); !written) {
    Log(LogLevel::kWarn, fmt::format("version hint not written: {}", written.error().message));
  }
}

Result<std::vector<TableIdentifier>> HadoopCatalog::ListTables() {
  std::vector<TableIdentifier> found;
  if (warehouse_.empty()) return found;
  if (const auto path = LocalPathOf(warehouse_)) {
    std::vector<std::string> names;
    AddTables(*path, names, 0, found);
  } else {
    FIRN_ASSIGN(found, TablesInStore(*io_, warehouse_));
  }
  // A directory right below the warehouse has no namespace: its path is its name.
  for (TableIdentifier& id : found) {
    if (id.name_space.empty()) id.name = Join(warehouse_, id.name);
  }
  std::ranges::sort(found, {}, [](const TableIdentifier& id) { return ToString(id); });
  return found;
}

}  // namespace firn::ports
