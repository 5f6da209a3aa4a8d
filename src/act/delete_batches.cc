// SPDX-License-Identifier: Apache-2.0
#include "act/delete_batches.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "act/delete_write.h"
#include "observe/parallel.h"

namespace firn::act {
namespace {

using iceberg::DataFile;
using iceberg::DeleteEntry;
using iceberg::DeleteKind;

/// What a data file costs while its deletes are read, besides their positions.
constexpr std::int64_t kTargetBytes = 1024;
/// Bytes that a position takes in a position delete file, at least.
constexpr std::int64_t kPositionBytes = 4;
constexpr int kBatchesPerThread = 8;

struct Batch {
  std::size_t begin = 0, end = 0;  // of DeletePlan::targets
  std::string uuid;                // part of the names of files
};

/// One batch with its data files and their deletes.
struct Loaded {
  std::vector<DataFile> data;
  std::vector<DataFileDeletes> deletes;
  std::vector<DataFileDeletes> staying;  // of those, position deletes that are not replaced
  std::vector<Result<DeletedRows>> rows;
  EqualityStatistics statistics;
};

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
        is_planned_(facts.deletes.entries().size(), false) {
    for (const std::uint32_t i : plan.deletes) {
      const DeleteEntry& entry = facts.deletes.entries()[i];
      is_planned_[i] = true;
      if (iceberg::KindOf(entry.file) == DeleteKind::kEquality && facts.is_needed[i]) equality_.push_back(&entry);
    }
    for (const std::uint32_t t : plan.targets) total_bytes_ += facts.targets[t].size_bytes;
  }

  Status Run(Random& random);

 private:
  int Workers() const;
  std::vector<Batch> MakeBatches(int workers, Random& random) const;
  Status Process(const Batch& batch, const DeleteLoadContext& context);
  Loaded Prepare(const Batch& batch) const;
  bool ComparesKeys(const observe::DeleteTarget& target) const { return target.kinds.equality && !equality_.empty(); }
  Status Compare(const DeleteLoadContext& context, const Batch& batch, Loaded& loaded) const;
  Status LeaveOutStaying(const DeleteLoadContext& context, Loaded& loaded);
  bool NeedsVector(const Loaded& loaded, std::size_t i) const;
  void NoteFailures(const Batch& batch, const Loaded& loaded, DeleteBatches& done) const;
  Status WriteVectors(const Batch& batch, const Loaded& loaded, DeleteBatches& done);
  Status WritePositions(const Batch& batch, const Loaded& loaded, DeleteBatches& done);
  std::optional<SequenceNumber> NumberOf(const Loaded& loaded, const std::vector<std::size_t>& inputs) const;
  void Merge(DeleteBatches done);
  void Show(std::int64_t more_bytes);

  const observe::DeleteFacts& facts_;
  const decide::DeletePlan& plan_;
  const iceberg::TableMetadata& metadata_;
  ports::FileIO& io_;
  const DeleteBatchOptions& options_;
  DeleteBatches& out_;
  DeleteCache cache_;
  std::vector<bool> is_planned_;
  std::vector<const DeleteEntry*> equality_;  // planned ones that apply to something
  std::mutex mutex_;                          // of out_ and what follows
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

std::vector<Batch> BatchReader::MakeBatches(int workers, Random& random) const {
  const std::int64_t share = std::max<std::int64_t>(options_.memory_bytes / workers, 1);
  const std::int64_t rows_max = share / 4 * 8;  // one bit a row at most
  const auto fitting = static_cast<std::size_t>(std::max<std::int64_t>(share / 8 / kTargetBytes, 1));
  const std::size_t targets_max = std::min(fitting, std::max<std::size_t>(options_.batch_files_max, 1));
  const std::size_t enough = workers == 1
                                 ? plan_.targets.size()
                                 : plan_.targets.size() / static_cast<std::size_t>(workers * kBatchesPerThread) + 1;
  std::vector<Batch> batches;
  std::int64_t rows = 0;
  std::uint32_t partition = 0;
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    const observe::DeleteTarget& target = facts_.targets[plan_.targets[i]];
    const std::size_t size = batches.empty() ? 0 : i - batches.back().begin;
    const bool is_full = rows + target.record_count > rows_max || size >= targets_max;
    const bool is_boundary = size >= enough && target.partition != partition;
    if (batches.empty() || is_full || is_boundary) {
      batches.push_back({i, i, random.NewUuid()});
      rows = 0;
    }
    rows += target.record_count;
    partition = target.partition;
    batches.back().end = i + 1;
  }
  return batches;
}

Status BatchReader::Run(Random& random) {
  const int workers = Workers();
  const std::vector<Batch> batches = MakeBatches(workers, random);
  FIRN_ASSIGN(const std::optional<iceberg::NameMapping> mapping, iceberg::NameMappingOf(metadata_));
  DeleteLoadContext context{metadata_, io_};
  context.name_mapping = mapping ? &*mapping : nullptr;
  context.memory_bytes = (options_.memory_bytes - options_.memory_bytes / 2) / workers;
  context.threads = workers == 1 ? options_.threads : 1;
  context.cancelled = options_.cancelled;
  context.compared = [this](const DataFile& file) { Show(file.file_size_bytes); };
  return observe::ForEachIndex(batches.size(), workers, [&](std::size_t i) { return Process(batches[i], context); });
}

Loaded BatchReader::Prepare(const Batch& batch) const {
  Loaded loaded;
  loaded.data.reserve(batch.end - batch.begin);
  for (std::size_t i = batch.begin; i < batch.end; ++i) {
    const observe::DeleteTarget& target = facts_.targets[plan_.targets[i]];
    loaded.data.push_back(DataFileOf(facts_, target));
    DataFileDeletes& deletes = loaded.deletes.emplace_back();
    DataFileDeletes& staying = loaded.staying.emplace_back();
    deletes.data = staying.data = {&loaded.data.back(), target.sequence_number};
    for (const std::uint32_t found : facts_.deletes.FindPositional(loaded.data.back(), target.sequence_number)) {
      const DeleteEntry& entry = facts_.deletes.entries()[found];
      // A vector must hold all positions, also those of deletes that stay. Without one, rows of which keys are compared
      // need not be deleted again.
      const bool stays = !plan_.writes_vectors && !is_planned_[found];
      if (!stays || ComparesKeys(target)) deletes.deletes.push_back(&entry);
      if (stays && ComparesKeys(target)) staying.deletes.push_back(&entry);
    }
  }
  return loaded;
}

/// Adds the rows that equality deletes delete. Which apply to which data file is found there, for all at once.
Status BatchReader::Compare(const DeleteLoadContext& context, const Batch& batch, Loaded& loaded) const {
  std::vector<DataFileRef> data;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < loaded.data.size(); ++i) {
    if (!loaded.rows[i] || !ComparesKeys(facts_.targets[plan_.targets[batch.begin + i]])) continue;
    data.push_back(loaded.deletes[i].data);
    places.push_back(i);
  }
  if (data.empty()) return Ok();
  FIRN_ASSIGN(auto matched, MatchEachEqualityDeletes(context, data, equality_, &loaded.statistics));
  for (std::size_t k = 0; k < places.size(); ++k) {
    Result<DeletedRows>& rows = loaded.rows[places[k]];
    if (matched[k]) {
      rows->AddByEquality(*matched[k]);
    } else {
      rows = std::move(matched[k].error());
    }
  }
  return Ok();
}

/// What position delete files that stay say is not written again.
Status BatchReader::LeaveOutStaying(const DeleteLoadContext& context, Loaded& loaded) {
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

/// Not if nothing is deleted, or the file's old vector says the same already.
bool BatchReader::NeedsVector(const Loaded& loaded, std::size_t i) const {
  const DeletedRows& rows = *loaded.rows[i];
  if (rows.positions.empty()) return false;
  const bool has_vector = std::ranges::any_of(loaded.deletes[i].deletes, [](const DeleteEntry* entry) {
    return iceberg::KindOf(entry->file) == DeleteKind::kVector;
  });
  return !has_vector || rows.by_equality > 0;
}

Status BatchReader::Process(const Batch& batch, const DeleteLoadContext& context) {
  DeleteBatches done;
  Loaded loaded = Prepare(batch);
  FIRN_ASSIGN(loaded.rows, LoadEachDeletedRows(context, cache_, loaded.deletes));
  FIRN_TRY(Compare(context, batch, loaded));
  FIRN_TRY(LeaveOutStaying(context, loaded));
  NoteFailures(batch, loaded, done);
  done.statistics = loaded.statistics;
  const Status written = plan_.writes_vectors ? WriteVectors(batch, loaded, done) : WritePositions(batch, loaded, done);
  for (const auto& rows : loaded.rows) {
    if (rows) done.rows_converted += rows->by_equality;
  }
  Merge(std::move(done));
  if (!written) return written;
  // Files that were compared in one pass or more have been shown.
  std::int64_t rest_bytes = 0;
  for (std::size_t i = batch.begin; i < batch.end; ++i) {
    const observe::DeleteTarget& target = facts_.targets[plan_.targets[i]];
    if (!ComparesKeys(target)) rest_bytes += target.size_bytes;
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

/// One a partition and code: a broken delete file may concern thousands of data files.
void BatchReader::NoteFailures(const Batch& batch, const Loaded& loaded, DeleteBatches& done) const {
  std::map<std::pair<std::uint32_t, Code>, GroupFailure> failures;
  for (std::size_t i = 0; i < loaded.rows.size(); ++i) {
    if (loaded.rows[i]) continue;
    const observe::DeleteTarget& target = facts_.targets[plan_.targets[batch.begin + i]];
    const Error& error = loaded.rows[i].error();
    const auto [failure, is_new] = failures.try_emplace(
        {target.partition, error.code}, GroupFailure{facts_.partitions[target.partition].text, 0, error});
    ++failure->second.files;
  }
  for (auto& [key, failure] : failures) done.failures.push_back(std::move(failure));
}

Status BatchReader::WriteVectors(const Batch& batch, const Loaded& loaded, DeleteBatches& done) {
  std::vector<NewDeletes> deletes;
  for (std::size_t i = 0; i < loaded.data.size(); ++i) {
    if (!loaded.rows[i]) continue;
    done.read.push_back({plan_.targets[batch.begin + i], std::nullopt});
    if (!NeedsVector(loaded, i)) continue;
    const auto read = static_cast<std::uint32_t>(done.read.size() - 1);
    done.read.back().written = static_cast<std::uint32_t>(deletes.size());
    deletes.push_back({&loaded.data[i], &loaded.rows[i]->positions});
    done.written.push_back({{}, std::nullopt, loaded.rows[i]->by_equality > 0, {read}});
  }
  MetadataFiles files(io_, batch.uuid);
  Result<std::vector<DataFile>> written = WriteDeletes(metadata_, files, deletes);
  done.files = files.created();
  if (!written) {
    done.read.clear();
    done.written.clear();
    return std::move(written.error());
  }
  for (std::size_t i = 0; i < written->size(); ++i) done.written[i].file = std::move((*written)[i]);
  return Ok();
}

/// That of the newest merged file, as for any merge of position deletes; that of the commit if rows are new in it.
std::optional<SequenceNumber> BatchReader::NumberOf(const Loaded& loaded,
                                                    const std::vector<std::size_t>& inputs) const {
  SequenceNumber number{0};
  for (const std::size_t i : inputs) {
    if (loaded.rows[i]->by_equality > 0) return std::nullopt;
    for (const DeleteEntry* entry : loaded.deletes[i].deletes) number = std::max(number, entry->sequence_number);
  }
  return number;
}

Status BatchReader::WritePositions(const Batch& batch, const Loaded& loaded, DeleteBatches& done) {
  std::vector<NewDeletes> deletes;
  std::vector<std::size_t> index_of, read_of(loaded.data.size());
  for (std::size_t i = 0; i < loaded.data.size(); ++i) {
    if (!loaded.rows[i]) continue;
    read_of[i] = done.read.size();
    done.read.push_back({plan_.targets[batch.begin + i], std::nullopt});
    index_of.push_back(i);
    deletes.push_back({&loaded.data[i], &loaded.rows[i]->positions});
  }
  const std::int64_t positions_max =
      plan_.by_file ? 0 : std::max<std::int64_t>(plan_.target_size_bytes / kPositionBytes, 1);
  MetadataFiles files(io_, batch.uuid);
  Result<std::vector<SharedDeletes>> written = WriteSharedDeletes(metadata_, files, deletes, positions_max);
  done.files = files.created();
  if (!written) {
    done.read.clear();
    return std::move(written.error());
  }
  for (SharedDeletes& shared : *written) {
    WrittenDeletes& one = done.written.emplace_back();
    std::vector<std::size_t> inputs;
    for (const std::size_t input : shared.inputs) {
      const std::size_t i = index_of[input];
      inputs.push_back(i);
      one.replaces_equality |= loaded.rows[i]->by_equality > 0;
      one.read.push_back(static_cast<std::uint32_t>(read_of[i]));
      done.read[read_of[i]].written = static_cast<std::uint32_t>(done.written.size() - 1);
    }
    one.data_sequence_number = NumberOf(loaded, inputs);
    one.file = std::move(shared.file);
  }
  return Ok();
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
  std::ranges::move(done.failures, std::back_inserter(out_.failures));
  out_.rows_converted += done.rows_converted;
  out_.statistics.passes += done.statistics.passes;
  out_.statistics.delete_rows_read += done.statistics.delete_rows_read;
  out_.statistics.data_rows_read += done.statistics.data_rows_read;
  out_.statistics.keys += done.statistics.keys;
}

}  // namespace

Status ReadAndWriteDeletes(const observe::DeleteFacts& facts, const decide::DeletePlan& plan,
                           const iceberg::TableMetadata& metadata, ports::FileIO& io, Random& random,
                           const DeleteBatchOptions& options, DeleteBatches& batches) {
  return BatchReader(facts, plan, metadata, io, options, batches).Run(random);
}

}  // namespace firn::act
