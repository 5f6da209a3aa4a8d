// SPDX-License-Identifier: Apache-2.0
#include "decide/delete_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/human_text.h"
#include "decide/decide.h"
#include "decide/refusal_list.h"
#include "iceberg/delete_reach.h"

namespace firn::decide {
namespace {

using iceberg::DataFile;
using iceberg::DeleteEntry;
using iceberg::DeleteKind;
using observe::DeleteTarget;

constexpr std::int32_t kVectorVersion = 3;
constexpr std::size_t kRefusalLines = 50;

struct Why {
  std::string_view code;  // empty: no reason
  std::string_view sentence;
};

constexpr Why kNotParquet{kCodeFormat, "it, or a data file that it applies to, is no Parquet file"};
constexpr Why kKeyMetadata{kCodeEncrypted, "it, or a data file that it applies to, is encrypted"};
constexpr Why kDoubt{kCodeDoubtful, "a delete does not fit the data file that it names, and readers disagree about it"};
constexpr Why kTooFew{kCodeFew, "there are too few small position delete files in the partition"};
constexpr Why kEverywhere{kCodeGlobal, "it applies to all partitions, and not all are selected"};

/// The one data file whose rows a position delete file deletes; empty: several, or not known.
std::string OnlyPath(const DataFile& file) {
  if (file.referenced_data_file) return *file.referenced_data_file;
  return std::string(iceberg::OnlyBound(file).value_or(""));
}

class DeletePlanner {
 public:
  DeletePlanner(const observe::DeleteFacts& facts, const DeleteRewriteOptions& options)
      : facts_(facts),
        options_(options),
        entries_(facts.deletes.entries()),
        vectors_(facts.format_version >= kVectorVersion),
        blocked_(entries_.size()),
        chosen_(entries_.size(), false) {
    for (const observe::DeletePartition& partition : facts.partitions) {
      partition_texts_[{partition.spec_id, iceberg::TupleKey(partition.tuple)}] = partition.text;
    }
  }

  DeletePlan Plan();

 private:
  DeleteKind KindOf(std::size_t i) const { return iceberg::KindOf(entries_[i].file); }
  static Why WhyUnreadable(const DataFile& file);
  bool IsSelected(const DataFile& file) const {
    return options_.selection == nullptr || options_.selection->Matches(file.spec_id, file.partition);
  }
  void Block(std::uint32_t index, const Why& why) {
    if (blocked_[index].code.empty()) blocked_[index] = why;
  }
  void BlockUnreadable();
  void BlockByTarget(const DeleteTarget& target);
  void ChooseEquality();
  void ChoosePositions();
  void ChooseForMerge();
  bool HasOwnFile(const DataFile& file, const std::string& path) const;
  void ChooseTargets();
  void ChooseCovered();
  void Refuse(std::size_t index, const Why& why);
  std::string Sentence() const;

  const observe::DeleteFacts& facts_;
  const DeleteRewriteOptions& options_;
  const std::vector<DeleteEntry>& entries_;
  const bool vectors_;
  std::map<std::pair<SpecId, std::string>, std::string> partition_texts_;
  std::unordered_map<std::string_view, std::int64_t> target_rows_;  // of data files with position deletes, by path
  std::vector<Why> blocked_;
  std::vector<bool> chosen_;
  RefusalList refusals_{kRefusalLines};
  DeletePlan plan_;
};

Why DeletePlanner::WhyUnreadable(const DataFile& file) {
  if (file.key_metadata) return kKeyMetadata;
  const bool is_vector = iceberg::KindOf(file) == DeleteKind::kVector;
  return is_vector || file.format == iceberg::FileFormat::kParquet ? Why{} : kNotParquet;
}

void DeletePlanner::BlockUnreadable() {
  const bool everything = options_.selection == nullptr || options_.selection->selects_everything();
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (const Why why = WhyUnreadable(entries_[i].file); !why.code.empty()) Block(i, why);
    if (facts_.is_global[i] && !everything) Block(i, kEverywhere);
  }
  for (const DeleteTarget& target : facts_.targets) BlockByTarget(target);
}

/// Deletes go only if every data file that needs them can be dealt with.
void DeletePlanner::BlockByTarget(const DeleteTarget& target) {
  Why positional, equality;
  if (target.is_encrypted) equality = kKeyMetadata;
  if (target.format != iceberg::FileFormat::kParquet) equality = kNotParquet;
  if (target.is_doubtful) positional = equality = kDoubt;
  const bool looks_up = !equality.code.empty() || (vectors_ && (target.kinds.positions || target.kinds.vector));
  if (!looks_up) return;
  const DataFile file = DataFileOf(facts_, target);
  const std::vector<std::uint32_t> positions = facts_.deletes.FindPositional(file, target.sequence_number);
  if (vectors_) {  // a vector stands for all positions: all must be read
    for (const std::uint32_t i : positions) {
      if (const Why why = WhyUnreadable(entries_[i].file); !why.code.empty()) positional = equality = why;
    }
  }
  if (!positional.code.empty()) {
    for (const std::uint32_t i : positions) Block(i, positional);
    for (const std::uint32_t i : facts_.deletes.Misplaced(file, target.sequence_number)) Block(i, positional);
  }
  if (equality.code.empty() || !target.kinds.equality) return;
  for (const std::uint32_t i : facts_.deletes.Find(file, target.sequence_number)) {
    if (KindOf(i) == DeleteKind::kEquality) Block(i, equality);
  }
}

void DeletePlanner::Refuse(std::size_t index, const Why& why) {
  const DataFile& file = entries_[index].file;
  const auto found = partition_texts_.find({file.spec_id, iceberg::TupleKey(file.partition)});
  refusals_.Add({found == partition_texts_.end() ? std::string() : found->second,
                 fmt::format("{} stays: {}", file.file_path, why.sentence), std::string(why.code), 1,
                 file.file_size_bytes, 1});
}

void DeletePlanner::ChooseEquality() {
  if (!options_.equality) return;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (KindOf(i) != DeleteKind::kEquality || !facts_.is_needed[i]) continue;
    if (!blocked_[i].code.empty()) {
      Refuse(i, blocked_[i]);
    } else if (IsSelected(entries_[i].file)) {
      chosen_[i] = true;
      ++plan_.equality_files;
    }
  }
}

void DeletePlanner::ChoosePositions() {
  if (!options_.positions) return;
  if (!vectors_) return ChooseForMerge();
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (KindOf(i) != DeleteKind::kPositions || !facts_.is_needed[i]) continue;
    if (!blocked_[i].code.empty()) {
      Refuse(i, blocked_[i]);
    } else if (IsSelected(entries_[i].file)) {
      chosen_[i] = true;
    }
  }
}

/// Whether it stays the file of one data file, because it deletes so many of its rows.
bool DeletePlanner::HasOwnFile(const DataFile& file, const std::string& path) const {
  if (options_.by_file || path.empty()) return false;
  const auto rows = target_rows_.find(path);
  return rows != target_rows_.end() &&
         static_cast<double>(file.record_count) >= options_.own_file_ratio * static_cast<double>(rows->second);
}

/// Small position delete files of one partition, or of one data file.
void DeletePlanner::ChooseForMerge() {
  std::map<std::pair<SpecId, std::string>, std::vector<std::uint32_t>> groups;
  const std::int64_t small_below = options_.target_size_bytes - options_.target_size_bytes / 4;
  for (const DeleteTarget& target : facts_.targets) {
    if (target.kinds.positions) target_rows_.emplace(target.path, target.record_count);
  }
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const DataFile& file = entries_[i].file;
    if (KindOf(i) != DeleteKind::kPositions || !facts_.is_needed[i] || !IsSelected(file)) continue;
    if (file.file_size_bytes >= small_below) continue;
    if (!blocked_[i].code.empty()) {
      Refuse(i, blocked_[i]);
      continue;
    }
    const std::string path = OnlyPath(file);
    if ((options_.by_file && path.empty()) || HasOwnFile(file, path)) continue;
    groups[{file.spec_id, options_.by_file ? path : iceberg::TupleKey(file.partition)}].push_back(i);
  }
  const std::size_t at_least = options_.by_file ? 2 : static_cast<std::size_t>(options_.min_input_files);
  for (const auto& [key, group] : groups) {
    if (group.size() >= at_least) {
      for (const std::uint32_t i : group) chosen_[i] = true;
    } else if (group.size() > 1) {
      for (const std::uint32_t i : group) Refuse(i, kTooFew);
    }
  }
}

/// Data files that something chosen applies to.
void DeletePlanner::ChooseTargets() {
  bool all_equality = true;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    all_equality = all_equality && (KindOf(i) != DeleteKind::kEquality || !facts_.is_needed[i] || chosen_[i]);
  }
  for (std::uint32_t t = 0; t < facts_.targets.size(); ++t) {
    const DeleteTarget& target = facts_.targets[t];
    if (target.is_doubtful) continue;
    const DataFile file = DataFileOf(facts_, target);
    bool scans = target.kinds.equality && plan_.equality_files > 0;
    if (scans && !all_equality) {
      scans = std::ranges::any_of(facts_.deletes.Find(file, target.sequence_number),
                                  [this](std::uint32_t i) { return chosen_[i] && KindOf(i) == DeleteKind::kEquality; });
    }
    bool reads = scans;
    if (!reads && target.kinds.positions && options_.positions) {
      reads = std::ranges::any_of(facts_.deletes.FindPositional(file, target.sequence_number),
                                  [this](std::uint32_t i) { return chosen_[i]; });
    }
    if (!reads) continue;
    plan_.targets.push_back(t);
    if (!scans) continue;
    ++plan_.scanned_files;
    plan_.scanned_rows += target.record_count;
  }
}

/// With vectors: position delete files go exactly if each data file that they apply to gets one.
void DeletePlanner::ChooseCovered() {
  if (!vectors_) return;
  std::vector<bool> is_left(entries_.size(), false);
  std::vector<bool> is_read(facts_.targets.size(), false), reached(entries_.size(), false);
  for (const std::uint32_t t : plan_.targets) is_read[t] = true;
  for (std::size_t t = 0; t < facts_.targets.size(); ++t) {
    const DeleteTarget& target = facts_.targets[t];
    if (!target.kinds.positions && !target.is_doubtful) continue;
    const DataFile file = DataFileOf(facts_, target);
    for (const std::uint32_t i : facts_.deletes.FindPositional(file, target.sequence_number)) {
      (is_read[t] ? reached : is_left)[i] = true;
    }
    for (const std::uint32_t i : facts_.deletes.Misplaced(file, target.sequence_number)) is_left[i] = true;
  }
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (KindOf(i) == DeleteKind::kPositions) chosen_[i] = reached[i] && !is_left[i];
  }
}

std::string DeletePlanner::Sentence() const {
  if (plan_.deletes.empty()) return "No delete file is worth rewriting.";
  std::vector<std::string> parts;
  const std::string_view made = plan_.writes_vectors ? "deletion vectors" : "position deletes";
  if (plan_.equality_files > 0) {
    parts.push_back(fmt::format("{} to {}", HumanCount(plan_.equality_files, "equality delete file"), made));
  }
  if (plan_.position_files > 0) {
    parts.push_back(fmt::format("{} to {}", HumanCount(plan_.position_files, "position delete file"),
                                plan_.writes_vectors ? made : "fewer"));
  }
  if (plan_.dangling_files > 0) {
    parts.push_back(fmt::format("{} that {} to nothing", HumanCount(plan_.dangling_files, "delete file"),
                                plan_.dangling_files == 1 ? "applies" : "apply"));
  }
  std::string text = fmt::format("Rewriting {}", fmt::join(parts, ", "));
  if (plan_.scanned_files > 0) {
    text += fmt::format("; the keys of {} in {} are read", HumanCount(plan_.scanned_rows, "row"),
                        HumanCount(plan_.scanned_files, "data file"));
  }
  return text + ".";
}

DeletePlan DeletePlanner::Plan() {
  plan_.plan_id = options_.plan_id;
  plan_.table = facts_.table;
  plan_.ref = facts_.ref;
  plan_.base_snapshot_id = facts_.snapshot_id;
  plan_.base_sequence_number = facts_.sequence_number;
  plan_.format_version = facts_.format_version;
  plan_.writes_vectors = vectors_;
  plan_.by_file = options_.by_file;
  plan_.target_size_bytes = options_.target_size_bytes;
  plan_.own_file_ratio = options_.own_file_ratio;
  if (!options_.enabled) {
    plan_.refusals.push_back({"", "firn.enabled is false", std::string(kCodeDisabled), 0, 0});
    plan_.reason = "Nothing is planned: firn.enabled is false.";
    return std::move(plan_);
  }
  BlockUnreadable();
  ChooseEquality();
  ChoosePositions();
  ChooseTargets();
  ChooseCovered();
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (chosen_[i]) {
      plan_.position_files += KindOf(i) == DeleteKind::kPositions ? 1 : 0;
    } else if (options_.dangling && !facts_.is_needed[i] && IsSelected(entries_[i].file)) {
      chosen_[i] = true;
      ++plan_.dangling_files;
    }
    if (chosen_[i]) plan_.deletes.push_back(i);
  }
  plan_.refusals = std::move(refusals_).Take();
  plan_.reason = Sentence();
  return std::move(plan_);
}

}  // namespace

DeletePlan PlanDeleteRewrite(const observe::DeleteFacts& facts, const DeleteRewriteOptions& options) {
  return DeletePlanner(facts, options).Plan();
}

}  // namespace firn::decide
