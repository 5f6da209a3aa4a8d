// SPDX-License-Identifier: Apache-2.0
#include "act/equality_match.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "act/equality_match_keys.h"
#include "act/equality_match_ranges.h"
#include "act/equality_match_table.h"
#include "base/parallel.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;

constexpr std::int64_t kTableBytesMin = 256 << 10;
/// A guess: the bytes of a column of varying size.
constexpr std::size_t kTextBytes = 24;
/// Hashes are not spread quite evenly.
constexpr double kSafely = 0.98;
/// Delete files with the same ids and scope, and the data files that they may apply to.
struct KeyGroup {
  std::vector<FieldId> ids;
  std::vector<const DeleteEntry*> deletes;
  std::vector<std::size_t> files;
};

using Scope = std::pair<std::int32_t, std::string>;  // spec and tuple

Scope ScopeOf(const iceberg::DataFile& file) { return {file.spec_id.value, iceberg::TupleKey(file.partition)}; }

Result<std::vector<KeyGroup>> MakeGroups(const DeleteLoadContext& context, std::span<const DataFileRef> files,
                                         std::span<const DeleteEntry* const> deletes) {
  const Scope everywhere{-1, ""};
  std::map<std::pair<Scope, std::vector<FieldId>>, KeyGroup> groups;
  for (const DeleteEntry* const entry : deletes) {
    const iceberg::PartitionSpec* const spec = context.metadata.FindSpec(entry->file.spec_id);
    if (spec == nullptr) {
      return Error{Code::kCorrupt, entry->file.file_path + ": its partition spec is not in the metadata"};
    }
    if (entry->file.content != iceberg::FileContent::kEqualityDeletes) {
      return Error{Code::kInvalidArgument, entry->file.file_path + ": no equality delete file"};
    }
    std::vector<FieldId> ids = entry->file.equality_ids;
    std::ranges::sort(ids);
    KeyGroup& group = groups[{spec->is_unpartitioned() ? everywhere : ScopeOf(entry->file), ids}];
    group.ids = std::move(ids);
    group.deletes.push_back(entry);
  }
  std::map<Scope, std::vector<std::size_t>> files_of_scope;
  for (std::size_t i = 0; i < files.size(); ++i) {
    files_of_scope[ScopeOf(*files[i].file)].push_back(i);
    files_of_scope[everywhere].push_back(i);
  }
  std::vector<KeyGroup> wanted;
  for (auto& [key, group] : groups) {
    group.files = files_of_scope[key.first];
    // Files that nothing in the group is newer than, and deletes that nothing is older than, need not be read.
    const auto newest = std::ranges::max(group.deletes, {}, &DeleteEntry::sequence_number)->sequence_number;
    std::erase_if(group.files, [&](std::size_t i) { return files[i].sequence_number >= newest; });
    if (group.files.empty()) continue;
    const auto oldest = std::ranges::min(group.files, {}, [&](std::size_t i) { return files[i].sequence_number; });
    std::erase_if(group.deletes,
                  [&](const DeleteEntry* entry) { return entry->sequence_number <= files[oldest].sequence_number; });
    wanted.push_back(std::move(group));
  }
  return wanted;
}

/// What was found so far, one a data file.
struct Found {
  std::vector<roaring::PositionSet> positions;
  std::vector<std::optional<Error>> errors;

  explicit Found(std::size_t files) : positions(files), errors(files) {}
  /// Gives an error about single files to `which`; any other is returned.
  Status Fail(Error error, const std::vector<std::size_t>& which) {
    if (!IsOfOneFile(error.code)) return error;
    for (const std::size_t i : which) {
      if (!errors[i]) errors[i] = error;
    }
    return Ok();
  }
};

/// Matches one group, in as many passes over parts of the hash range as memory asks for.
class GroupMatcher {
 public:
  GroupMatcher(const DeleteLoadContext& context, const KeyLayout& layout, const KeyGroup& group,
               std::span<const DataFileRef> files, Found& found, EqualityStatistics& statistics)
      : context_(context),
        layout_(layout),
        group_(group),
        files_(files),
        found_(found),
        statistics_(statistics),
        table_bytes_(std::max(context.memory_bytes - context.memory_bytes / 4, kTableBytesMin)),
        table_(layout, table_bytes_),
        ranges_(layout) {
    for (const DeleteEntry* const entry : group.deletes) sequences_.push_back(entry->sequence_number);
    std::ranges::sort(sequences_);
    const auto twice = std::ranges::unique(sequences_);
    sequences_.erase(twice.begin(), twice.end());
  }

  Status Run() {
    double keys_expected = 0;  // in the whole hash range
    for (const DeleteEntry* const entry : group_.deletes) {
      keys_expected += static_cast<double>(std::max<std::int64_t>(entry->file.record_count, 0));
    }
    for (std::uint64_t first = 0;; first = table_.last_hash() + 1) {
      const std::uint64_t width = PassWidth(keys_expected, kHashMax - first);
      table_.Begin(first, first + width,
                   static_cast<std::size_t>(std::ldexp(static_cast<double>(width), -64) * keys_expected));
      ranges_.Clear();
      FIRN_TRY(LoadKeys());
      table_.Seal();
      if (table_.size() > 0) {
        FIRN_TRY(ForEachIndex(group_.files.size(), context_.threads,
                              [this](std::size_t i) { return MatchOrFail(group_.files[i]); }));
      }
      ++statistics_.passes;
      statistics_.keys += static_cast<std::int64_t>(table_.size());
      if (table_.last_hash() == kHashMax) break;
      const double share = std::ldexp(static_cast<double>(table_.last_hash() - first) + 1, -64);
      keys_expected = static_cast<double>(table_.size() + 1) / share;
    }
    statistics_.data_rows_read += data_rows_read_;
    return Ok();
  }

 private:
  /// How much of the hash range, less one, the next pass should try to take.
  std::uint64_t PassWidth(double keys_expected, std::uint64_t left) const {
    const auto fitting = static_cast<double>(table_.KeysThatFit(kTextBytes * layout_.fields().size())) * kSafely;
    const double width = std::ldexp(fitting / std::max(keys_expected, 1.0), 64);
    return width >= static_cast<double>(left) ? left : static_cast<std::uint64_t>(width);
  }

  std::uint32_t RankOf(SequenceNumber sequence_number) const {
    return static_cast<std::uint32_t>(std::ranges::upper_bound(sequences_, sequence_number) - sequences_.begin());
  }

  /// All files are opened even if one cannot be read, so that every bad one is known at once.
  Status LoadKeys() {
    Status first = Ok();
    for (const DeleteEntry* const entry : group_.deletes) {
      Status loaded = LoadKeysOf(*entry);
      if (loaded) continue;
      if (!IsOfOneFile(loaded.error().code)) return loaded;
      if (context_.unreadable) context_.unreadable(*entry, loaded.error());
      if (first) first = std::move(loaded);
    }
    return first;
  }

  Status LoadKeysOf(const DeleteEntry& entry) {
    FIRN_ASSIGN(const auto reader, KeyReader::OpenDeletes(context_, layout_, entry.file));
    const std::uint32_t rank = RankOf(entry.sequence_number);
    while (true) {
      FIRN_ASSIGN(const std::size_t rows, reader->Next());
      if (rows == 0) return Ok();
      statistics_.delete_rows_read += static_cast<std::int64_t>(rows);
      ranges_.Add(reader->batch());
      FIRN_TRY(table_.Insert(reader->batch(), rank).In(entry.file.file_path));
    }
  }

  /// Each data file is one thread's at a time.
  Status MatchOrFail(std::size_t index) {
    if (found_.errors[index]) return Ok();
    Status matched = MatchFile(index);
    return matched ? Ok() : found_.Fail(std::move(matched.error()), {index});
  }

  Status MatchFile(std::size_t index) {
    const DataFileRef& data = files_[index];
    FIRN_ASSIGN(const auto reader, KeyReader::OpenData(context_, layout_, *data.file, filter_));
    // Only deletes with a higher sequence number have a higher rank than the data would.
    const std::uint32_t rank = RankOf(data.sequence_number) + 1;
    roaring::PositionSet& found = found_.positions[index];
    std::vector<std::uint32_t> scratch;
    while (true) {
      FIRN_ASSIGN(const std::size_t rows, reader->Next());
      if (rows == 0) break;
      data_rows_read_ += static_cast<std::int64_t>(rows);
      table_.ForEachMatch(reader->batch(), rank, scratch,
                          [&](std::size_t row) { found.Add(reader->first_row() + static_cast<std::int64_t>(row)); });
    }
    if (context_.compared) context_.compared(*data.file);
    return Ok();
  }

  const DeleteLoadContext& context_;
  const KeyLayout& layout_;
  const KeyGroup& group_;
  std::span<const DataFileRef> files_;
  Found& found_;
  EqualityStatistics& statistics_;
  std::int64_t table_bytes_;
  KeyTable table_;
  KeyRanges ranges_;
  std::vector<SequenceNumber> sequences_;  // of the deletes, ascending
  std::atomic<std::int64_t> data_rows_read_ = 0;
  const RowGroupFilter filter_ = [this](const splice::ScanFile& file, const KeySources& sources,
                                        const parquet::RowGroup& group) {
    return ranges_.MayMatch(file, sources, group);
  };
};

Status MatchGroup(const DeleteLoadContext& context, const KeyGroup& group, std::span<const DataFileRef> files,
                  Found& found, EqualityStatistics& statistics) {
  const Result<KeyLayout> layout = KeyLayout::Make(context.metadata, group.ids);
  if (layout) return GroupMatcher(context, *layout, group, files, found, statistics).Run();
  for (const DeleteEntry* const entry : group.deletes) {
    if (context.unreadable) context.unreadable(*entry, Error(layout.error()).In(entry->file.file_path));
  }
  return Error(layout.error()).In(group.deletes.front()->file.file_path);
}

}  // namespace

Result<std::vector<Result<roaring::PositionSet>>> MatchEqualityDeletes(const DeleteLoadContext& context,
                                                                       std::span<const DataFileRef> files,
                                                                       std::span<const DeleteEntry* const> deletes,
                                                                       EqualityStatistics* statistics) {
  EqualityStatistics ignored;
  Found found(files.size());
  FIRN_ASSIGN(const std::vector<KeyGroup> groups, MakeGroups(context, files, deletes));
  for (const KeyGroup& group : groups) {
    Status matched = MatchGroup(context, group, files, found, statistics != nullptr ? *statistics : ignored);
    // A delete file that cannot be read: all data files that it applies to lack something.
    if (!matched) FIRN_TRY(found.Fail(std::move(matched.error()), group.files));
  }
  std::vector<Result<roaring::PositionSet>> results;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (found.errors[i]) {
      results.emplace_back(std::move(*found.errors[i]));
    } else {
      results.emplace_back(std::move(found.positions[i]));
    }
  }
  return results;
}

}  // namespace firn::act
