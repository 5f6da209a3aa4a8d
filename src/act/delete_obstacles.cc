// SPDX-License-Identifier: Apache-2.0
#include "act/delete_obstacles.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.h"

namespace firn::act {
namespace {

using iceberg::DeleteKind;

constexpr std::size_t kLinesMax = 50;

bool SameScope(const iceberg::DataFile& file, const observe::DeletePartition& partition) {
  return file.spec_id == partition.spec_id && iceberg::SameTuple(file.partition, partition.tuple);
}

}  // namespace

DeleteObstacles::DeleteObstacles(const observe::DeleteFacts& facts, const decide::DeletePlan& plan)
    : facts_(facts), by_file_(plan.by_file), is_planned_(facts.deletes.entries().size(), false), stays_(is_planned_) {
  for (const std::uint32_t i : plan.deletes) {
    is_planned_[i] = true;
    const bool is_merged = !plan.writes_vectors && facts.is_needed[i] &&
                           iceberg::KindOf(facts.deletes.entries()[i].file) == DeleteKind::kPositions;
    if (is_merged) merges_[MergeOf(i)].push_back(i);
  }
}

/// What position deletes have in common that are merged with each other.
std::string DeleteObstacles::MergeOf(std::uint32_t entry) const {
  const iceberg::DataFile& file = facts_.deletes.entries()[entry].file;
  if (!by_file_) return fmt::format("{}:{}", file.spec_id.value, iceberg::TupleKey(file.partition));
  if (file.referenced_data_file) return *file.referenced_data_file;
  return file.lower_bounds.empty() ? "" : std::string(AsText(file.lower_bounds.front().second));
}

void DeleteObstacles::Keep(std::uint32_t entry) {
  if (stays_[entry]) return;
  stays_[entry] = true;
  staying_.push_back(entry);
  if (merges_.empty() || iceberg::KindOf(facts_.deletes.entries()[entry].file) != DeleteKind::kPositions) return;
  const auto merge = merges_.find(MergeOf(entry));
  if (merge == merges_.end()) return;
  std::erase(merge->second, entry);
  if (merge->second.size() == 1) Keep(merge->second.front());
}

void DeleteObstacles::KeepEquality(std::uint32_t target) {
  const observe::DeleteTarget& file = facts_.targets[target];
  if (!file.kinds.equality) return;
  for (const std::uint32_t i : facts_.deletes.Find(DataFileOf(facts_, file), file.sequence_number)) {
    const bool is_equality = iceberg::KindOf(facts_.deletes.entries()[i].file) == DeleteKind::kEquality;
    if (is_equality && is_planned_[i]) Keep(i);
  }
}

void DeleteObstacles::Block(std::uint32_t entry, Error error) {
  const std::lock_guard lock(mutex_);
  blocked_.try_emplace(entry, std::move(error));
  Keep(entry);
}

void DeleteObstacles::CannotCompare(std::uint32_t target, const Error& error) {
  const std::lock_guard lock(mutex_);
  KeepEquality(target);
  if (!data_files_.insert(target).second) return;
  const std::uint32_t partition = facts_.targets[target].partition;
  const auto [failure, is_new] = data_failures_.try_emplace(
      {partition, error.code},
      GroupFailure{facts_.partitions[partition].text, 0, error, error.code == Code::kUnsupported});
  ++failure->second.files;
}

void DeleteObstacles::CannotWrite(std::uint32_t target) {
  const std::lock_guard lock(mutex_);
  KeepEquality(target);
}

bool DeleteObstacles::IsOfDelete(const Error& error) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(blocked_, [&](const auto& blocked) {
    return blocked.second.code == error.code && blocked.second.message == error.message;
  });
}

DeleteObstacles::Staying DeleteObstacles::staying() const {
  const std::lock_guard lock(mutex_);
  return {stays_, staying_.size()};
}

bool DeleteObstacles::Concerns(std::size_t since_version, std::uint32_t first_partition,
                               std::uint32_t last_partition) const {
  const std::lock_guard lock(mutex_);
  for (std::size_t k = since_version; k < staying_.size(); ++k) {
    if (facts_.is_global[staying_[k]]) return true;
    const iceberg::DataFile& file = facts_.deletes.entries()[staying_[k]].file;
    for (std::uint32_t p = first_partition; p <= last_partition; ++p) {
      if (SameScope(file, facts_.partitions[p])) return true;
    }
  }
  return false;
}

std::string DeleteObstacles::PartitionOf(std::uint32_t entry) const {
  const iceberg::DataFile& file = facts_.deletes.entries()[entry].file;
  const auto found = std::ranges::find_if(
      facts_.partitions, [&](const observe::DeletePartition& partition) { return SameScope(file, partition); });
  return found == facts_.partitions.end() ? "" : found->text;
}

std::vector<GroupFailure> DeleteObstacles::Failures() const {
  const std::lock_guard lock(mutex_);
  std::vector<GroupFailure> failures;
  for (const auto& [key, failure] : data_failures_) failures.push_back(failure);
  std::map<Code, GroupFailure> more;  // a line a code for those that are too many
  for (const auto& [entry, error] : blocked_) {
    if (failures.size() < kLinesMax) {
      failures.push_back({PartitionOf(entry), 1, error, error.code == Code::kUnsupported});
    } else {
      GroupFailure& rest = more[error.code];
      ++rest.files;
      rest.is_refusal = error.code == Code::kUnsupported;
      rest.error = {error.code,
                    fmt::format("{} cannot be used either, {} among them", HumanCount(rest.files, "more delete file"),
                                facts_.deletes.entries()[entry].file.file_path)};
    }
  }
  for (auto& [code, failure] : more) failures.push_back(std::move(failure));
  return failures;
}

}  // namespace firn::act
