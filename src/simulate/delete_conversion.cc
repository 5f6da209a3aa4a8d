// SPDX-License-Identifier: Apache-2.0
#include "simulate/delete_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "decide/plan_effect.h"

namespace firn::simulate {
namespace {

/// Of an entry; what is in the file is not looked at.
constexpr std::int64_t kDeleteFileBytes = 4096;

std::string PathOf(const StoredFile& file) { return fmt::format("f{:010}", file.id); }

iceberg::DataFile NewDelete(const iceberg::PartitionTuple& tuple, iceberg::FileContent content, std::string path) {
  iceberg::DataFile file;
  file.content = content;
  file.file_path = std::move(path);
  file.partition = tuple;
  file.file_size_bytes = kDeleteFileBytes;
  return file;
}

}  // namespace

observe::DeleteFacts DeleteFactsOf(const World& world, std::uint32_t table, std::uint32_t partition) {
  const StoredPartition& stored = world.partition(table, partition);
  observe::DeleteFacts facts;
  facts.table = fmt::format("db.t{}", table);
  facts.format_version = 3;
  facts.snapshot_id = SnapshotId{world.sequence(table)};
  facts.sequence_number = SequenceNumber{world.sequence(table)};
  facts.data_files = static_cast<std::int64_t>(stored.files.size());
  observe::DeletePartition& only = facts.partitions.emplace_back();
  only.tuple.values = {static_cast<std::int32_t>(partition)};
  only.text = fmt::format("p={}", partition);
  for (const std::int64_t sequence : stored.equality_deletes) {
    auto file = NewDelete(only.tuple, iceberg::FileContent::kEqualityDeletes, fmt::format("e{}", sequence));
    file.equality_ids = {FieldId{1}};
    facts.deletes.Add({std::move(file), SequenceNumber{sequence}}, false);
  }
  for (const StoredFile& stored_file : stored.files) {
    if (stored_file.dead_rows == 0) continue;
    iceberg::DataFile file =
        NewDelete(only.tuple, iceberg::FileContent::kPositionDeletes, fmt::format("v{}", stored_file.id));
    file.format = iceberg::FileFormat::kPuffin;
    file.referenced_data_file = PathOf(stored_file);
    file.record_count = stored_file.dead_rows;
    facts.deletes.Add({std::move(file), SequenceNumber{world.sequence(table)}}, false);
  }
  facts.deletes.Build();
  facts.is_global.resize(facts.deletes.entries().size());
  std::int64_t oldest = INT64_MAX;
  for (const StoredFile& file : stored.files) oldest = std::min(oldest, file.sequence);
  for (const iceberg::DeleteEntry& entry : facts.deletes.entries()) {
    const bool is_vector = iceberg::KindOf(entry.file) == iceberg::DeleteKind::kVector;
    facts.is_needed.push_back(is_vector || entry.sequence_number.value > oldest);
  }
  for (const StoredFile& file : stored.files) {
    if (World::DeleteReadsOf(stored, file) == 0) continue;
    observe::DeleteTarget target;
    target.path = PathOf(file);
    target.record_count = file.rows;
    target.size_bytes = file.size_bytes;
    target.sequence_number = target.file_sequence_number = SequenceNumber{file.sequence};
    target.kinds.vector = file.dead_rows > 0;
    target.kinds.equality = World::EqualityDeletesOf(stored, file) > 0;
    facts.targets.push_back(std::move(target));
  }
  return facts;
}

Job ConversionOf(const World& world, std::uint32_t table, std::uint32_t partition, const observe::DeleteFacts& facts,
                 const decide::DeletePlan& plan) {
  const StoredPartition& stored = world.partition(table, partition);
  Job job;
  job.table = table;
  job.partition = partition;
  job.sequence = facts.sequence_number.value;
  job.seconds = decide::PredictSeconds(plan);
  job.converts_deletes = true;
  if (plan.equality_files == 0) return job;
  std::size_t next = 0;
  for (const std::uint32_t index : plan.targets) {
    while (PathOf(stored.files[next]) != facts.targets[index].path) ++next;
    const StoredFile& file = stored.files[next];
    job.targets.push_back({file.id, file.dead_rows, file.hidden_rows});
  }
  return job;
}

}  // namespace firn::simulate
