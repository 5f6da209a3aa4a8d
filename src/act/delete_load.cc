// SPDX-License-Identifier: Apache-2.0
#include "act/delete_load.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "act/named_files.h"
#include "base/parallel.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using iceberg::DeleteKind;

/// Whether all rows of the delete file name one data file, as far as its entry tells.
bool NamesOneFile(const iceberg::DataFile& delete_file) {
  const auto bound = [](const iceberg::ByField<Bytes>& bounds) -> const Bytes* {
    const auto found = std::ranges::find(bounds, kDeletePathField, &std::pair<FieldId, Bytes>::first);
    return found == bounds.end() ? nullptr : &found->second;
  };
  if (delete_file.referenced_data_file) return true;
  const Bytes *const lower = bound(delete_file.lower_bounds), *const upper = bound(delete_file.upper_bounds);
  return lower != nullptr && upper != nullptr && *lower == *upper;
}

class DeleteLoader {
 public:
  DeleteLoader(const DeleteLoadContext& context, DeleteCache& cache, std::span<const DataFileDeletes> files)
      : context_(context), cache_(cache), files_(files), rows_(files.size()), errors_(files.size()) {}

  Result<std::vector<Result<DeletedRows>>> Run(EqualityStatistics* statistics) {
    Sort();
    FIRN_TRY(ForEachIndex(vectors_.size(), context_.threads, [this](std::size_t i) -> Status {
      Status loaded = LoadVector(i);
      return loaded ? Ok() : Fail(*vectors_[i].entry, std::move(loaded.error()), {vectors_[i].file});
    }));
    FIRN_TRY(ForEachIndex(positions_.size(), context_.threads, [this](std::size_t i) -> Status {
      Status loaded = LoadPositions(i);
      return loaded ? Ok() : Fail(*positions_[i].entry, std::move(loaded.error()), positions_[i].files);
    }));
    for (std::size_t i = 0; i < files_.size(); ++i) rows_[i].positions.Truncate(files_[i].data.file->record_count);
    FIRN_TRY(MatchEquality(statistics));
    std::vector<Result<DeletedRows>> results;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (errors_[i]) {
        results.emplace_back(std::move(*errors_[i]));
      } else {
        results.emplace_back(std::move(rows_[i]));
      }
    }
    return results;
  }

 private:
  struct Vector {
    const DeleteEntry* entry;
    std::size_t file;
  };
  struct Positions {
    const DeleteEntry* entry;
    std::vector<std::size_t> files;  // that want it
  };

  /// Gives an error about single files to `which`; any other is returned.
  Status Fail(const DeleteEntry& entry, Error error, const std::vector<std::size_t>& which) {
    if (!IsOfOneFile(error.code)) return error;
    if (context_.unreadable) context_.unreadable(entry, error);
    const std::lock_guard lock(mutex_);
    for (const std::size_t i : which) {
      if (!errors_[i]) errors_[i] = error;
    }
    return Ok();
  }

  /// Divides the deletes by kind.
  void Sort() {
    std::map<const DeleteEntry*, std::vector<std::size_t>> positions;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto is_vector = [](const DeleteEntry* entry) { return KindOf(entry->file) == DeleteKind::kVector; };
      const auto vectors = std::ranges::count_if(files_[i].deletes, is_vector);
      if (vectors > 1) {
        errors_[i] = Error{Code::kCorrupt, files_[i].data.file->file_path + ": more than one deletion vector applies"};
        continue;
      }
      for (const DeleteEntry* const entry : files_[i].deletes) {
        switch (KindOf(entry->file)) {
          case DeleteKind::kVector: vectors_.push_back({entry, i}); break;
          case DeleteKind::kPositions:
            if (vectors == 0) positions[entry].push_back(i);
            break;
          case DeleteKind::kEquality: equality_.insert(entry); break;
        }
      }
    }
    for (auto& [entry, files] : positions) positions_.push_back({entry, std::move(files)});
  }

  Status LoadVector(std::size_t index) {
    const Vector& vector = vectors_[index];
    FIRN_TRY(CheckGoesOn(context_));
    FIRN_ASSIGN(rows_[vector.file].positions,
                LoadDeletionVector(context_, vector.entry->file, files_[vector.file].data.file->file_path));
    return Ok();
  }

  Status LoadPositions(std::size_t index) {
    const Positions& wanted = positions_[index];
    const iceberg::DataFile& file = wanted.entry->file;
    NamedFiles* const named = context_.named_files;
    if (named != nullptr) FIRN_TRY(named->Check(file));
    if (!NamesOneFile(file) && file.record_count <= cache_.positions_max()) {
      const auto cached = cache_.Get(context_, file);
      if (cached) {
        if (named != nullptr) FIRN_TRY(named->Note(file, (*cached)->keys));
        Join(wanted, **cached);
        return Ok();
      }
      if (cached.error().code != Code::kLimit) return cached.error();
    }
    std::vector<std::string_view> paths;
    for (const std::size_t i : wanted.files) paths.push_back(files_[i].data.file->file_path);
    const bool whole = named != nullptr && named->Find(file.file_path) == nullptr;
    FIRN_ASSIGN(const PositionDeletes loaded, LoadPositionDeletes(context_, file, std::move(paths), whole));
    if (named != nullptr) FIRN_TRY(named->Note(file, loaded.keys));
    Join(wanted, loaded);
    return Ok();
  }

  void Join(const Positions& wanted, const PositionDeletes& loaded) {
    const std::lock_guard lock(mutex_);
    for (const std::size_t i : wanted.files) {
      const roaring::PositionSet* const found = loaded.Find(files_[i].data.file->file_path);
      if (found != nullptr) rows_[i].positions.Union(*found);
    }
  }

  Status MatchEquality(EqualityStatistics* statistics) {
    if (equality_.empty()) return Ok();
    std::vector<DataFileRef> data;
    std::vector<std::size_t> indexes;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const bool has_any = std::ranges::any_of(
          files_[i].deletes, [](const DeleteEntry* entry) { return KindOf(entry->file) == DeleteKind::kEquality; });
      if (!has_any || errors_[i]) continue;
      data.push_back(files_[i].data);
      indexes.push_back(i);
    }
    const std::vector<const DeleteEntry*> deletes(equality_.begin(), equality_.end());
    FIRN_ASSIGN(auto matched, MatchEqualityDeletes(context_, data, deletes, statistics));
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      if (!matched[i]) {
        errors_[indexes[i]] = std::move(matched[i].error());
        continue;
      }
      rows_[indexes[i]].AddByEquality(*matched[i]);
    }
    return Ok();
  }

  const DeleteLoadContext& context_;
  DeleteCache& cache_;
  std::span<const DataFileDeletes> files_;
  std::vector<DeletedRows> rows_;
  std::vector<std::optional<Error>> errors_;
  std::vector<Vector> vectors_;
  std::vector<Positions> positions_;
  std::set<const DeleteEntry*> equality_;
  std::mutex mutex_;  // of rows_ and errors_ while several threads work
};

}  // namespace

DataFileDeletes DeletesOf(const iceberg::DeleteIndex& index, const DataFileRef& data) {
  DataFileDeletes deletes{data, {}};
  for (const std::uint32_t found : index.Find(*data.file, data.sequence_number)) {
    deletes.deletes.push_back(&index.entries()[found]);
  }
  return deletes;
}

Result<std::vector<Result<DeletedRows>>> LoadEachDeletedRows(const DeleteLoadContext& context, DeleteCache& cache,
                                                             std::span<const DataFileDeletes> files,
                                                             EqualityStatistics* statistics) {
  return DeleteLoader(context, cache, files).Run(statistics);
}

Result<std::vector<DeletedRows>> LoadDeletedRows(const DeleteLoadContext& context, DeleteCache& cache,
                                                 std::span<const DataFileDeletes> files,
                                                 EqualityStatistics* statistics) {
  FIRN_ASSIGN(auto each, LoadEachDeletedRows(context, cache, files, statistics));
  std::vector<DeletedRows> all;
  for (Result<DeletedRows>& one : each) {
    if (!one) return std::move(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace firn::act
