// SPDX-License-Identifier: Apache-2.0
#include "act/delete_batches.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "act/delete_batch_write.h"
#include "act/delete_obstacles.h"
#include "base/parallel.h"

namespace firn::act {
namespace {

using iceberg::DataFile;
using iceberg::DeleteEntry;
using iceberg::DeleteKind;

/// What a data file costs while its deletes are read, besides their positions.
constexpr std::int64_t kTargetBytes = 1024;
constexpr int kBatchesPerThread = 8;

class BatchReader {
 public:
  BatchReader(const observe::DeleteFacts& facts, const decide::DeletePlan& plan, const iceberg::TableMetadata& metadata,
              ports::FileIO& io, const DeleteBatchOptions& options, DeleteBatches& out)
      : facts_(facts),
        plan_(plan),
        metadata_(metadata),
        io_(io),
        options_(options),
        out_(out),
        cache_(options.memory_bytes / 8),
        is_planned_(facts.deletes.entries().size(), false),
        was_looked_at_(is_planned_),
        obstacles_(facts, plan),
        live_(metadata, io, *facts.snapshot_id),
        named_(live_),
        strays_(facts, live_) {
    for (const std::uint32_t i : plan.deletes) {
      is_planned_[i] = true;
      if (IsEquality(i) && facts.is_needed[i]) equality_.push_back(i);
    }
    for (const std::uint32_t t : plan.targets) total_bytes_ += facts.targets[t].size_bytes;
  }

  Status Run(const NewUuid& new_uuid);

 private:
  int Workers() const;
  std::vector<DeleteBatch> MakeBatches(int workers, const NewUuid& new_uuid) const;
  Status LookAtDangling(const DeleteLoadContext& context);
  Status RunAll(std::vector<DeleteBatch>& batches, int workers, const DeleteLoadContext& context,
                const NewUuid& new_uuid);
  bool IsOutdated(const DeleteBatch& batch) const;
  Status Process(DeleteBatch& batch, const DeleteLoadContext& context);
  Status Read(const DeleteBatch& batch, const DeleteLoadContext& context, LoadedDeletes& loaded);
  LoadedDeletes Prepare(const DeleteBatch& batch, const std::vector<bool>& stays);
  Status LookAtPaths(const LoadedDeletes& loaded);
  bool ComparesKeys(const observe::DeleteTarget& target, const LoadedDeletes& loaded) const {
    return target.kinds.equality && !loaded.equality.empty();
  }
  Status Compare(const DeleteLoadContext& context, const DeleteBatch& batch, LoadedDeletes& loaded);
  Status LeaveOutStaying(const DeleteLoadContext& context, LoadedDeletes& loaded);
  void Merge(DeleteBatches done);
  void Show(std::int64_t more_bytes);

  const DeleteEntry& Entry(std::uint32_t i) const { return facts_.deletes.entries()[i]; }
  std::uint32_t IndexOf(const DeleteEntry& entry) const {
    return static_cast<std::uint32_t>(&entry - facts_.deletes.entries().data());
  }
  bool IsEquality(std::uint32_t i) const { return iceberg::KindOf(Entry(i).file) == DeleteKind::kEquality; }
  bool IsPositions(std::uint32_t i) const { return iceberg::KindOf(Entry(i).file) == DeleteKind::kPositions; }
  const observe::DeleteTarget& TargetOf(std::size_t place) const { return facts_.targets[plan_.targets[place]]; }

  const observe::DeleteFacts& facts_;
  const decide::DeletePlan& plan_;
  const iceberg::TableMetadata& metadata_;
  ports::FileIO& io_;
  const DeleteBatchOptions& options_;
  DeleteBatches& out_;
  DeleteCache cache_;
  std::vector<bool> is_planned_;
  std::vector<bool> was_looked_at_;      // position deletes whose paths were accounted for; guarded by mutex_
  std::vector<std::uint32_t> equality_;  // planned ones that apply to something
  DeleteObstacles obstacles_;
  LivePaths live_;
  NamedFiles named_;
  DeleteStrays strays_;
  std::mutex mutex_;  // of out_ and what follows
  std::int64_t total_bytes_ = 0, shown_bytes_ = 0;
};

/// Partitions can be read side by side if no equality delete reaches several of them and there are enough.
int BatchReader::Workers() const {
  for (const std::uint32_t i : plan_.deletes) {
    if (facts_.is_global[i] && facts_.is_needed[i]) return 1;
  }
  int partitions = 0;
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    const auto partition_of = [&](std::size_t at) { return facts_.targets[plan_.targets[at]].partition; };
    if (i == 0 || partition_of(i) != partition_of(i - 1)) ++partitions;
  }
  return partitions >= 2 * options_.threads ? std::max(options_.threads, 1) : 1;
}

std::vector<DeleteBatch> BatchReader::MakeBatches(int workers, const NewUuid& new_uuid) const {
  const std::int64_t share = std::max<std::int64_t>(options_.memory_bytes / workers, 1);
  const std::int64_t rows_max = share / 4 * 8;  // one bit a row at most
  const auto fitting = static_cast<std::size_t>(std::max<std::int64_t>(share / 8 / kTargetBytes, 1));
  const std::size_t targets_max = std::min(fitting, std::max<std::size_t>(options_.batch_files_max, 1));
  const std::size_t enough = workers == 1
                                 ? plan_.targets.size()
                                 : plan_.targets.size() / static_cast<std::size_t>(workers * kBatchesPerThread) + 1;
  std::vector<DeleteBatch> batches;
  std::int64_t rows = 0;
  std::uint32_t partition = 0;
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    const observe::DeleteTarget& target = facts_.targets[plan_.targets[i]];
    const std::size_t size = batches.empty() ? 0 : i - batches.back().begin;
    const bool is_full = rows + target.record_count > rows_max || size >= targets_max;
    const bool is_boundary = size >= enough && target.partition != partition;
    if (batches.empty() || is_full || is_boundary) {
      batches.push_back({i, i, new_uuid(), 0, {}});
      rows = 0;
    }
    rows += target.record_count;
    partition = target.partition;
    batches.back().end = i + 1;
  }
  return batches;
}

Status BatchReader::Run(const NewUuid& new_uuid) {
  const int workers = Workers();
  std::vector<DeleteBatch> batches = MakeBatches(workers, new_uuid);
  FIRN_ASSIGN(const std::optional<iceberg::NameMapping> mapping, iceberg::NameMappingOf(metadata_));
  DeleteLoadContext context{metadata_, io_};
  context.name_mapping = mapping ? &*mapping : nullptr;
  context.memory_bytes = (options_.memory_bytes - options_.memory_bytes / 2) / workers;
  context.threads = workers == 1 ? options_.threads : 1;
  context.cancelled = options_.cancelled;
  context.compared = [this](const DataFile& file) { Show(file.file_size_bytes); };
  context.unreadable = [this](const DeleteEntry& entry, const Error& error) {
    obstacles_.Block(IndexOf(entry), error);
  };
  context.named_files = &named_;
  Status read = LookAtDangling(context);
  if (read) read = RunAll(batches, workers, context, new_uuid);
  for (DeleteBatch& batch : batches) Merge(std::move(batch.done));
  out_.failures = obstacles_.Failures();
  const std::vector<bool> stays = obstacles_.staying().entries;
  for (const std::uint32_t i : plan_.deletes) {
    if (stays[i]) out_.kept.push_back(i);
  }
  out_.dangling = strays_.TakeDangling();
  return read;
}

/// Position deletes of which nothing seems to be left: their rows must agree.
Status BatchReader::LookAtDangling(const DeleteLoadContext& context) {
  std::vector<std::uint32_t> dangling;
  for (const std::uint32_t i : plan_.deletes) {
    if (IsPositions(i) && !facts_.is_needed[i]) dangling.push_back(i);
  }
  return ForEachIndex(dangling.size(), options_.threads, [&](std::size_t k) -> Status {
    const std::uint32_t i = dangling[k];
    Status looked = [&]() -> Status {
      FIRN_ASSIGN(const PathKeys keys, LoadPathKeys(context, Entry(i).file));
      FIRN_TRY(named_.Note(Entry(i).file, keys));
      return strays_.Check(i, keys.all);
    }();
    if (looked || !IsOfOneFile(looked.error().code)) return looked;
    obstacles_.Block(i, std::move(looked.error()));
    return Ok();
  });
}

/// Until nothing more is found that has to stay and that a batch has dealt with.
Status BatchReader::RunAll(std::vector<DeleteBatch>& batches, int workers, const DeleteLoadContext& context,
                           const NewUuid& new_uuid) {
  std::vector<std::size_t> pending(batches.size());
  for (std::size_t i = 0; i < pending.size(); ++i) pending[i] = i;
  while (!pending.empty()) {
    FIRN_TRY(
        ForEachIndex(pending.size(), workers, [&](std::size_t k) { return Process(batches[pending[k]], context); }));
    pending.clear();
    for (std::size_t i = 0; i < batches.size(); ++i) {
      DeleteBatch& batch = batches[i];
      if (!IsOutdated(batch)) continue;
      pending.push_back(i);
      DeleteBatches unused;
      unused.files = std::move(batch.done.files);
      unused.statistics = batch.done.statistics;
      batch.done = DeleteBatches();
      Merge(std::move(unused));
      batch.uuid = new_uuid();
    }
  }
  return Ok();
}

bool BatchReader::IsOutdated(const DeleteBatch& batch) const {
  return obstacles_.Concerns(batch.version, TargetOf(batch.begin).partition, TargetOf(batch.end - 1).partition);
}

LoadedDeletes BatchReader::Prepare(const DeleteBatch& batch, const std::vector<bool>& stays) {
  LoadedDeletes loaded;
  loaded.data.reserve(batch.end - batch.begin);
  for (const std::uint32_t i : equality_) {
    if (!stays[i]) loaded.equality.push_back(&Entry(i));
  }
  for (std::size_t place = batch.begin; place < batch.end; ++place) {
    const observe::DeleteTarget& target = TargetOf(place);
    loaded.data.push_back(DataFileOf(facts_, target));
    DataFileDeletes& deletes = loaded.deletes.emplace_back();
    DataFileDeletes& staying = loaded.staying.emplace_back();
    loaded.is_stuck.push_back(false);
    deletes.data = staying.data = {&loaded.data.back(), target.sequence_number};
    for (const std::uint32_t found : facts_.deletes.FindPositional(loaded.data.back(), target.sequence_number)) {
      if (stays[found]) {
        if (plan_.writes_vectors) loaded.is_stuck.back() = true;
        continue;
      }
      // A vector must hold all positions, also those of deletes that stay. Without one, rows of which keys are compared
      // need not be deleted again.
      const bool remains = !plan_.writes_vectors && !is_planned_[found];
      const bool compares = ComparesKeys(target, loaded);
      if (!remains || compares) deletes.deletes.push_back(&Entry(found));
      if (remains && compares) staying.deletes.push_back(&Entry(found));
    }
    if (!loaded.is_stuck.back()) continue;
    deletes.deletes.clear();
    obstacles_.CannotWrite(plan_.targets[place]);
  }
  return loaded;
}

/// Adds the rows that equality deletes delete. Which apply to which data file is found there, for all at once.
Status BatchReader::Compare(const DeleteLoadContext& context, const DeleteBatch& batch, LoadedDeletes& loaded) {
  std::vector<DataFileRef> data;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < loaded.data.size(); ++i) {
    if (!loaded.rows[i] || loaded.is_stuck[i] || !ComparesKeys(TargetOf(batch.begin + i), loaded)) continue;
    data.push_back(loaded.deletes[i].data);
    places.push_back(i);
  }
  if (data.empty()) return Ok();
  FIRN_ASSIGN(auto matched, MatchEqualityDeletes(context, data, loaded.equality, &loaded.statistics));
  for (std::size_t k = 0; k < places.size(); ++k) {
    Result<DeletedRows>& rows = loaded.rows[places[k]];
    if (matched[k]) {
      rows->AddByEquality(*matched[k]);
      continue;
    }
    if (!obstacles_.IsOfDelete(matched[k].error())) {
      obstacles_.CannotCompare(plan_.targets[batch.begin + places[k]], matched[k].error());
    }
    rows = std::move(matched[k].error());
  }
  return Ok();
}

/// Planned position deletes that were read: whether all their rows are accounted for.
Status BatchReader::LookAtPaths(const LoadedDeletes& loaded) {
  for (const DataFileDeletes& deletes : loaded.deletes) {
    for (const DeleteEntry* const entry : deletes.deletes) {
      const std::uint32_t i = IndexOf(*entry);
      if (!IsPositions(i) || !is_planned_[i]) continue;
      const NamedFiles::Keys keys = named_.Find(entry->file.file_path);
      if (keys == nullptr) continue;  // it could not be read
      {
        const std::lock_guard lock(mutex_);
        if (was_looked_at_[i]) continue;
        was_looked_at_[i] = true;
      }
      Status accounted = strays_.Check(i, *keys);
      if (accounted) continue;
      if (!IsOfOneFile(accounted.error().code)) return accounted;
      obstacles_.Block(i, std::move(accounted.error()));
    }
  }
  return Ok();
}

/// What position delete files that stay say is not written again.
Status BatchReader::LeaveOutStaying(const DeleteLoadContext& context, LoadedDeletes& loaded) {
  std::vector<DataFileDeletes> wanted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < loaded.rows.size(); ++i) {
    if (!loaded.rows[i] || loaded.staying[i].deletes.empty()) continue;
    wanted.push_back(loaded.staying[i]);
    places.push_back(i);
  }
  if (wanted.empty()) return Ok();
  FIRN_ASSIGN(auto staying, LoadEachDeletedRows(context, cache_, wanted));
  for (std::size_t k = 0; k < places.size(); ++k) {
    Result<DeletedRows>& rows = loaded.rows[places[k]];
    if (staying[k]) {
      rows->positions = roaring::Difference(rows->positions, staying[k]->positions);
    } else {
      rows = std::move(staying[k].error());
    }
  }
  return Ok();
}

Status BatchReader::Read(const DeleteBatch& batch, const DeleteLoadContext& context, LoadedDeletes& loaded) {
  FIRN_ASSIGN(loaded.rows, LoadEachDeletedRows(context, cache_, loaded.deletes));
  for (std::size_t i = 0; i < loaded.rows.size(); ++i) {
    if (loaded.rows[i] || obstacles_.IsOfDelete(loaded.rows[i].error())) continue;
    obstacles_.CannotCompare(plan_.targets[batch.begin + i], loaded.rows[i].error());
  }
  FIRN_TRY(LookAtPaths(loaded));
  if (IsOutdated(batch)) return Ok();
  FIRN_TRY(Compare(context, batch, loaded));
  return LeaveOutStaying(context, loaded);
}

Status BatchReader::Process(DeleteBatch& batch, const DeleteLoadContext& context) {
  const DeleteObstacles::Staying known = obstacles_.staying();
  batch.version = known.version;
  LoadedDeletes loaded = Prepare(batch, known.entries);
  FIRN_TRY(Read(batch, context, loaded));
  DeleteBatches& done = batch.done;
  done.statistics = loaded.statistics;
  if (IsOutdated(batch)) return Ok();  // it begins again
  for (std::size_t i = 0; i < loaded.rows.size(); ++i) {
    if (loaded.is_stuck[i]) loaded.rows[i] = Error{Code::kUnsupported, "a delete file of it cannot be used"};
  }
  FIRN_TRY(WriteBatch(metadata_, io_, plan_, batch, loaded));
  for (const auto& rows : loaded.rows) {
    if (rows) done.rows_converted += rows->by_equality;
  }
  // Files that were compared in one pass or more have been shown.
  std::int64_t rest_bytes = 0;
  for (std::size_t place = batch.begin; place < batch.end; ++place) {
    if (!ComparesKeys(TargetOf(place), loaded)) rest_bytes += TargetOf(place).size_bytes;
  }
  Show(rest_bytes);
  return Ok();
}

void BatchReader::Show(std::int64_t more_bytes) {
  if (!options_.progress) return;
  const std::lock_guard lock(mutex_);
  // Several passes over the keys count as one.
  shown_bytes_ = std::min(shown_bytes_ + more_bytes, total_bytes_);
  options_.progress(shown_bytes_, total_bytes_);
}

void BatchReader::Merge(DeleteBatches done) {
  const std::lock_guard lock(mutex_);
  const auto reads = static_cast<std::uint32_t>(out_.read.size());
  const auto writes = static_cast<std::uint32_t>(out_.written.size());
  for (ReadTarget& read : done.read) {
    if (read.written) *read.written += writes;
    out_.read.push_back(read);
  }
  for (WrittenDeletes& written : done.written) {
    for (std::uint32_t& read : written.read) read += reads;
    out_.written.push_back(std::move(written));
  }
  std::ranges::move(done.files, std::back_inserter(out_.files));
  out_.rows_converted += done.rows_converted;
  out_.statistics.passes += done.statistics.passes;
  out_.statistics.delete_rows_read += done.statistics.delete_rows_read;
  out_.statistics.data_rows_read += done.statistics.data_rows_read;
  out_.statistics.keys += done.statistics.keys;
}

}  // namespace

Status ReadAndWriteDeletes(const observe::DeleteFacts& facts, const decide::DeletePlan& plan,
                           const iceberg::TableMetadata& metadata, ports::FileIO& io, const NewUuid& new_uuid,
                           const DeleteBatchOptions& options, DeleteBatches& batches) {
  return BatchReader(facts, plan, metadata, io, options, batches).Run(new_uuid);
}

}  // namespace firn::act
