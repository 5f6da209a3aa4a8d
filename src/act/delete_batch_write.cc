// SPDX-License-Identifier: Apache-2.0
#include "act/delete_batch_write.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "act/delete_write.h"

namespace firn::act {
namespace {

using iceberg::DataFile;
using iceberg::DeleteEntry;
using iceberg::DeleteKind;

/// Bytes that a position takes in a position delete file, at least.
constexpr std::int64_t kPositionBytes = 4;

/// Not if nothing is deleted, or the file's old vector says the same already.
bool NeedsVector(const LoadedDeletes& loaded, std::size_t i) {
  const DeletedRows& rows = *loaded.rows[i];
  if (rows.positions.empty()) return false;
  const bool has_vector = std::ranges::any_of(loaded.deletes[i].deletes, [](const DeleteEntry* entry) {
    return iceberg::KindOf(entry->file) == DeleteKind::kVector;
  });
  return !has_vector || rows.by_equality > 0;
}

Status WriteVectors(const iceberg::TableMetadata& metadata, ports::FileIO& io, const decide::DeletePlan& plan,
                    DeleteBatch& batch, const LoadedDeletes& loaded) {
  DeleteBatches& done = batch.done;
  std::vector<NewDeletes> deletes;
  for (std::size_t i = 0; i < loaded.data.size(); ++i) {
    if (!loaded.rows[i]) continue;
    done.read.push_back({plan.targets[batch.begin + i], std::nullopt});
    if (!NeedsVector(loaded, i)) continue;
    const auto read = static_cast<std::uint32_t>(done.read.size() - 1);
    done.read.back().written = static_cast<std::uint32_t>(deletes.size());
    deletes.push_back({&loaded.data[i], &loaded.rows[i]->positions});
    done.written.push_back({{}, std::nullopt, loaded.rows[i]->by_equality > 0, {read}});
  }
  MetadataFiles files(io, batch.uuid);
  Result<std::vector<DataFile>> written = WriteDeletes(metadata, files, deletes);
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
std::optional<SequenceNumber> NumberOf(const LoadedDeletes& loaded, const std::vector<std::size_t>& inputs) {
  SequenceNumber number{0};
  for (const std::size_t i : inputs) {
    if (loaded.rows[i]->by_equality > 0) return std::nullopt;
    for (const DeleteEntry* entry : loaded.deletes[i].deletes) number = std::max(number, entry->sequence_number);
  }
  return number;
}

Status WritePositions(const iceberg::TableMetadata& metadata, ports::FileIO& io, const decide::DeletePlan& plan,
                      DeleteBatch& batch, const LoadedDeletes& loaded) {
  DeleteBatches& done = batch.done;
  std::vector<NewDeletes> deletes;
  std::vector<std::size_t> index_of, read_of(loaded.data.size());
  for (std::size_t i = 0; i < loaded.data.size(); ++i) {
    if (!loaded.rows[i]) continue;
    read_of[i] = done.read.size();
    done.read.push_back({plan.targets[batch.begin + i], std::nullopt});
    index_of.push_back(i);
    // Alone it counts as deleted rows of its data file, so that the file is rewritten for them.
    const roaring::PositionSet& positions = loaded.rows[i]->positions;
    const double least = plan.own_file_ratio * static_cast<double>(loaded.data[i].record_count);
    deletes.push_back({&loaded.data[i], &positions, static_cast<double>(positions.cardinality()) >= least});
  }
  const std::int64_t positions_max =
      plan.by_file ? 0 : std::max<std::int64_t>(plan.target_size_bytes / kPositionBytes, 1);
  MetadataFiles files(io, batch.uuid);
  Result<std::vector<SharedDeletes>> written = WriteSharedDeletes(metadata, files, deletes, positions_max);
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

}  // namespace

Status WriteBatch(const iceberg::TableMetadata& metadata, ports::FileIO& io, const decide::DeletePlan& plan,
                  DeleteBatch& batch, const LoadedDeletes& loaded) {
  return plan.writes_vectors ? WriteVectors(metadata, io, plan, batch, loaded)
                             : WritePositions(metadata, io, plan, batch, loaded);
}

}  // namespace firn::act
