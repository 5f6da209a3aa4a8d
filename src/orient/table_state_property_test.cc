// SPDX-License-Identifier: Apache-2.0
// Random histories of a table against a model that keeps every file. Each seed is a case; what fails names it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "orient/file_size_entropy.h"
#include "orient/orient.h"
#include "orient/table_state.h"
#include "orient/triage.h"

namespace firn::orient {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kStepSecondsMax = 20'000;

struct ModelPartition {
  SpecId spec_id{0};
  iceberg::PartitionTuple tuple;
  std::vector<observe::DataFileFacts> files;
  std::int64_t delete_files = 0;
};
using Model = std::map<std::string, ModelPartition>;  // by key

class RandomTable {
 public:
  RandomTable(std::uint64_t seed, std::size_t partitions_max)
      : random_(seed), partitions_max_(partitions_max), state_(partitions_max) {
    policy_.target_size_bytes = 100 * kMiB;
    if (random_.Below(3) == 0) policy_.tolerated_entropy = 0.3;
    state_.AbsorbScan(FactsOf({}), policy_);
    versions_.push_back({});
  }

  void Step() {
    now_.value += static_cast<std::int64_t>(random_.Below(kStepSecondsMax)) * 1000;
    const std::uint64_t commits = random_.Below(4);
    for (std::uint64_t i = 0; i < commits; ++i) {
      Commit();
      NoteWorth();
    }
    MaybeEvolve();
    MaybeSaveAndLoad();
    const std::optional<SnapshotId> before = state_.snapshot_id();
    const TableState::Applied applied = state_.Apply(SetSince(before), policy_, now_);
    if (state_.needs_scan().empty()) {
      EXPECT_EQ(state_.snapshot_id(), head());
      Compare();
      Look(applied.touched);
    }
    Sweep();
    CheckNothingIsForgotten();
  }

  int exact_compared = 0, scans = 0, table_scans = 0, calm = 0;

 private:
  std::optional<SnapshotId> head() const {
    return snapshot_ == 0 ? std::nullopt : std::optional(SnapshotId(snapshot_));
  }

  ModelPartition& Partition() {
    const auto day = static_cast<std::int32_t>(random_.Below(12));
    const iceberg::PartitionTuple tuple{{iceberg::Literal(day)}};
    ModelPartition& partition = model_[PartitionKeyOf(spec_id_, tuple)];
    partition.spec_id = spec_id_;
    partition.tuple = tuple;
    return partition;
  }

  observe::DataFileFacts NewFile() {
    observe::DataFileFacts file;
    file.size_bytes = random_.Below(3) == 0 ? 80 * kMiB + static_cast<std::int64_t>(random_.Below(60 * kMiB))
                                            : static_cast<std::int64_t>(random_.Below(30 * kMiB));
    file.record_count = 1000;
    if (random_.Below(20) == 0) file.flags |= observe::kNotParquet;
    if (random_.Below(20) == 0) file.flags |= observe::kEncrypted;
    return file;
  }

  static observe::ChangedFile Entry(const observe::DataFileFacts& file) {
    return {file.size_bytes, file.record_count,
            static_cast<std::uint16_t>(file.flags & (observe::kNotParquet | observe::kEncrypted))};
  }

  void Append(ModelPartition& partition, observe::PartitionDelta& delta) {
    for (std::uint64_t i = random_.Below(4) + 1; i > 0; --i) {
      partition.files.push_back(NewFile());
      delta.added.push_back(Entry(partition.files.back()));
    }
  }

  void Remove(ModelPartition& partition, observe::PartitionDelta& delta) {
    for (std::uint64_t i = random_.Below(5); i > 0 && !partition.files.empty(); --i) {
      const auto at = static_cast<std::ptrdiff_t>(random_.Below(partition.files.size()));
      delta.removed.push_back(Entry(partition.files[static_cast<std::size_t>(at)]));
      partition.files.erase(partition.files.begin() + at);
    }
  }

  void Delete(ModelPartition& partition, observe::PartitionDelta& delta) {
    if (partition.files.empty()) return;
    observe::DataFileFacts& file = partition.files[random_.Below(partition.files.size())];
    file.deleted_rows = std::min<std::int64_t>(1000, file.deleted_rows + static_cast<std::int64_t>(random_.Below(600)));
    file.flags |= observe::kHasPositionDeletes;
    if (random_.Below(10) == 0) file.flags |= observe::kHasMisplacedDeletes;
    ++file.delete_files;
    ++partition.delete_files;
    delta.added_deletes.position_files = 1;
  }

  /// Joins small files, as a rewrite of our own would; sometimes badly.
  void Merge(ModelPartition& partition, observe::PartitionDelta& delta) {
    observe::DataFileFacts merged;
    merged.record_count = 1000;
    std::vector<observe::DataFileFacts> left;
    for (const observe::DataFileFacts& file : partition.files) {
      const FileClass file_class = Classify(file, policy_);
      if (file_class == FileClass::kHealthy || file_class == FileClass::kBlocked || random_.Below(8) == 0) {
        left.push_back(file);
        continue;
      }
      merged.size_bytes += file.size_bytes;
      delta.removed.push_back(Entry(file));
    }
    partition.files = left;
    const std::int64_t outputs = random_.Below(10) == 0 ? 8 : 1;
    merged.size_bytes /= outputs;
    for (std::int64_t i = 0; i < outputs && !delta.removed.empty(); ++i) {
      partition.files.push_back(merged);
      delta.added.push_back(Entry(merged));
    }
  }

  void Commit() {
    if (random_.Below(60) == 0 && versions_.size() > 1) return RollBack();
    observe::Change change;
    change.parent_id = head();
    snapshot_ = ++last_snapshot_;
    change.snapshot_id = SnapshotId(snapshot_);
    change.timestamp = now_;
    change.is_own = random_.Below(5) == 0;
    std::set<const ModelPartition*> touched;
    for (std::uint64_t i = random_.Below(3) + 1; i > 0; --i) {
      ModelPartition& partition = Partition();
      if (!touched.insert(&partition).second) continue;
      observe::PartitionDelta delta;
      delta.spec_id = partition.spec_id;
      delta.tuple = partition.tuple;
      if (change.is_own) {
        Merge(partition, delta);
      } else {
        if (random_.Below(4) == 0) Remove(partition, delta);  // first: nothing goes in the snapshot that it came in
        if (random_.Below(3) != 0) Append(partition, delta);
        if (random_.Below(6) == 0) Delete(partition, delta);
      }
      change.partitions.push_back(std::move(delta));
    }
    changes_.push_back(std::move(change));
    versions_.push_back(model_);
  }

  void RollBack() {
    const std::size_t to = random_.Below(versions_.size() - 1);
    versions_.resize(to + 1);
    changes_.resize(to);
    model_ = versions_.back();
    snapshot_ = changes_.empty() ? 0 : changes_.back().snapshot_id.value;
  }

  void MaybeEvolve() {
    if (random_.Below(80) == 0) policy_.target_size_bytes = (50 + static_cast<std::int64_t>(random_.Below(200))) * kMiB;
    if (random_.Below(80) == 0) policy_.min_removable_files = static_cast<std::int32_t>(random_.Below(6)) + 1;
    if (random_.Below(80) == 0) policy_.tolerated_entropy = random_.Below(2) == 0 ? 0 : 0.4;
    if (random_.Below(100) == 0) {
      spec_id_ = SpecId(spec_id_.value + 1);
      ++partitioning_;
    }
    if (random_.Below(100) == 0) expired_ = changes_.size();
  }

  void MaybeSaveAndLoad() {
    if (random_.Below(10) != 0) return;
    auto loaded = TableState::Parse(state_.Serialize(), partitions_max_);
    ASSERT_TRUE(loaded.has_value()) << ToString(loaded.error());
    EXPECT_TRUE(*loaded == state_);
    state_ = std::move(*loaded);
  }

  /// As ReadChanges gives it.
  observe::ChangeSet SetSince(std::optional<SnapshotId> since) {
    observe::ChangeSet set;
    set.table_uuid = "u";
    set.partitioning = partitioning_;
    set.since = since;
    set.head = head();
    std::size_t first = 0;
    if (since) {
      const auto at =
          std::ranges::find(changes_, *since, [](const observe::Change& change) { return change.snapshot_id; });
      set.is_complete = at != changes_.end();
      first = static_cast<std::size_t>(at - changes_.begin()) + 1;
    }
    if (first < expired_ && first < changes_.size()) set.is_complete = false;
    if (!set.is_complete) {
      set.reason = "history does not reach it";
      return set;
    }
    // Some that were taken already, as when two readers come together.
    if (first > expired_ && random_.Below(4) == 0) {
      --first;
      set.since = changes_[first].parent_id;
    }
    set.changes.assign(changes_.begin() + static_cast<std::ptrdiff_t>(first), changes_.end());
    return set;
  }

  /// Of these partitions; of all if there are none.
  observe::Facts FactsOf(const std::vector<std::string>& keys) const {
    observe::Facts facts;
    facts.table_uuid = "u";
    facts.partitioning = partitioning_;
    facts.snapshot_id = head();
    facts.observed_at = now_;
    for (const auto& [key, partition] : model_) {
      if (!keys.empty() && std::ranges::find(keys, key) == keys.end()) continue;
      if (partition.files.empty() && partition.delete_files == 0) continue;
      observe::PartitionFacts& line = facts.partitions.emplace_back();
      line.spec_id = partition.spec_id;
      line.tuple = partition.tuple;
      line.position_delete_files = partition.delete_files;
      for (observe::DataFileFacts file : partition.files) {
        file.partition = static_cast<std::uint32_t>(facts.partitions.size() - 1);
        facts.files.push_back(file);
      }
    }
    return facts;
  }

  void Compare() {
    const StateBasis basis = BasisOf(policy_);
    for (std::uint32_t i = 0; i < state_.size(); ++i) {
      const PartitionState& partition = state_.partition(i);
      EXPECT_EQ(partition.flags & kContradicted, 0u);
      if (!partition.has_numbers()) continue;
      FileSizeEntropy entropy(policy_.target_size_bytes);
      std::int64_t bytes = 0, small_files = 0, small_bytes = 0;
      const auto found = model_.find(std::string(state_.key(i)));
      if (found != model_.end()) {
        for (const observe::DataFileFacts& file : found->second.files) {
          entropy.Add(file.size_bytes);
          bytes += file.size_bytes;
          if (file.size_bytes >= basis.healthy_size_bytes || Entry(file).flags != 0) continue;
          ++small_files;
          small_bytes += file.size_bytes;
        }
      }
      EXPECT_EQ(partition.file_count, entropy.file_count());
      EXPECT_EQ(MeanSquaredErrorOf(partition), entropy.mean_squared_error());
      EXPECT_EQ(partition.size_bytes, bytes);
      EXPECT_EQ(partition.small_files, small_files);
      EXPECT_EQ(partition.small_bytes, small_bytes);
      ++exact_compared;
    }
  }

  void ScanPartitions(const std::vector<std::string>& keys) {
    ASSERT_TRUE(state_.AbsorbScan(FactsOf(keys), policy_, keys).has_value());
    for (const std::string& key : keys) scanned_[key] = now_;
    ++scans;
  }

  void ScanTable() {
    state_.AbsorbScan(FactsOf({}), policy_);
    for (const auto& [key, partition] : model_) scanned_[key] = now_;
    ++table_scans;
  }

  /// Right after a commit; now and then nobody comes to look, as when the service was down.
  void Look(const std::vector<std::uint32_t>& touched) {
    if (random_.Below(5) == 0) return;
    std::vector<std::string> keys;
    for (const std::uint32_t index : touched) {
      const Verdict verdict = Triage(state_.partition(index), policy_, now_);
      EXPECT_FALSE(verdict.reason.empty());
      calm += verdict.kind == VerdictKind::kCalm ? 1 : 0;
      if (verdict.kind == VerdictKind::kScan) keys.emplace_back(state_.key(index));
    }
    if (!keys.empty()) ScanPartitions(keys);
  }

  void Sweep() {
    if (!state_.WhyScanAll(policy_, now_).empty()) ScanTable();
    std::vector<std::string> keys;
    for (std::uint32_t i = 0; i < state_.size(); ++i) {
      if (Triage(state_.partition(i), policy_, now_).kind == VerdictKind::kScan) keys.emplace_back(state_.key(i));
    }
    if (!keys.empty()) ScanPartitions(keys);
    Compare();
  }

  /// Since when a merge would have removed enough, without a break between two commits.
  void NoteWorth() {
    const observe::Facts facts = FactsOf({});
    std::map<std::string, TimestampMs> worth_since;
    for (const PartitionDiagnosis& d : Diagnose(facts, policy_).partitions) {
      const double entropy = std::sqrt(d.size_mse) / static_cast<double>(policy_.target_size_bytes);
      if (d.removable_files < policy_.removable_files_min() || entropy <= policy_.tolerated_entropy) continue;
      const observe::PartitionFacts& partition = facts.partitions[d.partition];
      const std::string key = PartitionKeyOf(partition.spec_id, partition.tuple);
      const auto before = worth_since_.find(key);
      worth_since[key] = before == worth_since_.end() ? now_ : before->second;
    }
    worth_since_ = std::move(worth_since);
  }

  /// Whatever is worth doing was scanned within the age, however it came about.
  void CheckNothingIsForgotten() {
    NoteWorth();
    for (const auto& [key, worth] : worth_since_) {
      const std::int64_t since = std::max(worth.value, scanned_[key].value);
      EXPECT_LE(now_.value - since, (policy_.noise_age_seconds + kStepSecondsMax) * 1000);
    }
  }

  Random random_;
  std::size_t partitions_max_;
  TableState state_;
  Policy policy_;
  TimestampMs now_{1'700'000'000'000};
  Model model_;
  std::vector<Model> versions_;  // [0]: the empty table, then after each change
  std::vector<observe::Change> changes_;
  std::size_t expired_ = 0;  // changes that nobody can read any more
  std::int64_t snapshot_ = 0, last_snapshot_ = 0;
  SpecId spec_id_{0};
  std::uint64_t partitioning_ = 1;
  std::map<std::string, TimestampMs> scanned_, worth_since_;
};

void RunSeeds(std::uint64_t first, std::uint64_t last, std::size_t partitions_max) {
  int compared = 0, scans = 0, table_scans = 0, calm = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomTable table(seed, partitions_max);
    for (int step = 0; step < 200; ++step) {
      table.Step();
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
    }
    compared += table.exact_compared;
    scans += table.scans;
    table_scans += table.table_scans;
    calm += table.calm;
  }
  // The histories do reach what they are made for.
  EXPECT_GT(compared, 1000);
  EXPECT_GT(scans, 100);
  EXPECT_GT(table_scans, 20);
  EXPECT_GT(calm, 100);
}

TEST(TableStateProperty, RandomHistories_EqualCountingAnew) { RunSeeds(1, 50, kPartitionsMax); }
TEST(TableStateProperty, WithTooFewPartitions_NothingIsForgottenForEver) { RunSeeds(1001, 1050, 7); }

}  // namespace
}  // namespace firn::orient
