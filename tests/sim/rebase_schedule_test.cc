// SPDX-License-Identifier: Apache-2.0
//
// Random schedules of other writers, rewrites of data and of deletes, against a model of the rows, which only the
// writers change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "service/rewrite_deletes.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

/// A table, the rows that it must show, and writers that change both.
class Schedule {
 public:
  Schedule(std::int32_t format_version, bool upgrades, std::uint64_t seed)
      : world_(format_version, seed), version_(format_version), upgrades_(upgrades), random_(seed * 7919 + 1) {}

  void Run(int steps);
  const std::string& trace() const { return trace_; }
  int deletes_rewritten() const { return deletes_rewritten_; }

 private:
  std::uint64_t Pick(std::uint64_t below) { return random_.Next() % below; }
  void Note(const std::string& what) { trace_ += what + " "; }
  void Check(const std::string& after);

  void Write();
  void Append(std::int32_t part);
  void DeletePositions(std::int32_t part);
  void DeleteKeys(std::int32_t part);
  void OverwriteFile();
  void Rewrite();
  void RewriteDeletes();
  void Intrude(const std::string& plan_id);
  void CheckFiles();

  World world_;
  std::int32_t version_;
  bool upgrades_;
  Random random_;
  std::multiset<Row> model_;
  std::set<std::string> inputs_;  // of the rewrite that is under way
  bool input_is_gone_ = false;
  std::int64_t next_id_ = 0;
  int plans_ = 0;
  int deletes_rewritten_ = 0;
  std::string trace_;
};

void Schedule::Check(const std::string& after) {
  const std::vector<Row> rows = world_.Rows();
  EXPECT_EQ(rows, std::vector<Row>(model_.begin(), model_.end())) << "after " << after;
  world_.CheckSound();
}

void Schedule::Append(std::int32_t part) {
  std::vector<std::vector<std::int64_t>> files(1 + Pick(2));
  for (std::vector<std::int64_t>& ids : files) {
    for (std::uint64_t i = 0; i < 1 + Pick(5); ++i) {
      // Now and then a key that was there before: an upsert.
      const bool again = next_id_ > 0 && Pick(3) == 0;
      const std::int64_t id =
          again ? static_cast<std::int64_t>(Pick(static_cast<std::uint64_t>(next_id_))) : next_id_++;
      ids.push_back(id);
      model_.insert({id, part});
    }
  }
  Note("append");
  const auto appended = world_.table().Append(part, files);
  if (!appended) world_.Fail(appended.error());
}

void Schedule::DeletePositions(std::int32_t part) {
  const Result<Contents> contents = world_.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  std::vector<Position> positions;
  for (const auto& [path, live] : contents->files) {
    if (std::get<std::int32_t>(live.file.partition.values.at(0)) != part) continue;
    for (std::size_t i = 0; i < live.rows.size(); ++i) {
      if (!live.visible[i] || Pick(5) != 0) continue;
      positions.emplace_back(path, static_cast<std::int64_t>(i));
      model_.erase(model_.find(live.rows[i]));
    }
    if (Pick(2) == 0 && !positions.empty()) break;
  }
  if (positions.empty()) return;
  Note("positions");
  world_.Fail(version_ >= 3 ? world_.table().AddVectors(positions)
                            : world_.table().AddPositionDeletes(positions, Pick(2) == 0));
}

void Schedule::DeleteKeys(std::int32_t part) {
  if (next_id_ == 0) return;
  std::vector<std::int64_t> ids;
  for (std::uint64_t i = 0; i < 1 + Pick(4); ++i) {
    ids.push_back(static_cast<std::int64_t>(Pick(static_cast<std::uint64_t>(next_id_))));
    model_.erase({ids.back(), part});
  }
  Note("keys");
  world_.Fail(world_.table().AddEqualityDelete(part, ids));
}

void Schedule::OverwriteFile() {
  const Result<Contents> contents = world_.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  if (contents->files.empty()) return;
  const auto chosen = std::next(contents->files.begin(), static_cast<std::ptrdiff_t>(Pick(contents->files.size())));
  std::vector<std::int64_t> keep;
  for (std::size_t i = 0; i < chosen->second.rows.size(); ++i) {
    if (!chosen->second.visible[i]) continue;
    const Row& row = chosen->second.rows[i];
    if (Pick(2) == 0) {
      keep.push_back(row.id);
    } else {
      model_.erase(model_.find(row));
    }
  }
  Note("overwrite");
  input_is_gone_ |= inputs_.contains(chosen->first);
  world_.Fail(world_.table().Overwrite(chosen->first, keep));
}

void Schedule::Write() {
  const auto part = static_cast<std::int32_t>(Pick(2));
  switch (Pick(16)) {
    case 0:
    case 1:
    case 2:
    case 3: return Append(part);
    case 4:
    case 5:
    case 6:
    case 7:
    case 8: return DeletePositions(part);
    case 9:
    case 10:
    case 11: return DeleteKeys(part);
    case 12: return OverwriteFile();
    case 13: Note("convert"); return world_.Fail(world_.table().ConvertEqualityDeletes());
    case 14: Note("manifests"); return world_.Fail(world_.table().RewriteManifests());
    default: Note("property"); return world_.Fail(world_.table().SetProperty("p", std::to_string(Pick(100))));
  }
}

void Schedule::Rewrite() {
  const World::Style style{.row_maps = true, .fold = Pick(4) != 0, .shuffle = Pick(3) == 0};
  std::vector<act::RewriteGroup> groups;
  for (const std::int32_t part : {0, 1}) {
    if (Pick(4) == 0) continue;
    act::RewriteGroup group = world_.RewriteOf(part, 1 + Pick(8), style);
    if (!group.removed.empty()) groups.push_back(std::move(group));
  }
  if (groups.empty()) return;
  inputs_.clear();
  input_is_gone_ = false;
  for (const act::RewriteGroup& group : groups) {
    for (const act::RemovedFile& file : group.removed) inputs_.insert(file.path);
  }
  const std::string plan_id = "plan-" + std::to_string(++plans_);
  Note("[plan");
  act::Rewrite rewrite = world_.PlanOf(std::move(groups), plan_id);
  for (std::uint64_t i = Pick(4); i > 0; --i) Write();
  Note("commit");
  Intrude(plan_id);
  const RewriteReport report = world_.Run(std::move(rewrite));
  world_.intrude = nullptr;
  Note("]");
  if (!input_is_gone_) {
    EXPECT_TRUE(report.commit.status.has_value()) << ToString(report.commit.status.error());
    for (const act::GroupRefusal& refusal : report.refusals) ADD_FAILURE() << ToString(refusal.error);
  }
  inputs_.clear();
  CheckFiles();
}

/// Up to three writes between the calls of the process, until the plan is committed.
void Schedule::Intrude(const std::string& plan_id) {
  world_.intrude = [this, plan_id, left = Pick(4), committed = false](std::int64_t, const ports::IoEvent&) mutable {
    if (left == 0 || Pick(20) != 0) return;
    --left;
    committed = committed || (!plan_id.empty() && world_.CommitsOf(plan_id) > 0);
    if (!committed) Write();
  };
}

/// Nothing that firn wrote is left over, and no vector names a data file that is gone.
void Schedule::CheckFiles() {
  for (const std::string& orphan : world_.Orphans()) {
    // Old metadata files leave the table's log by and by.
    EXPECT_TRUE(orphan.ends_with(".metadata.json")) << orphan;
  }
  const Result<Contents> contents = world_.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  for (const LiveFile& live : contents->deletes) {
    if (live.file.format != iceberg::FileFormat::kPuffin) continue;
    EXPECT_TRUE(contents->files.contains(*live.file.referenced_data_file)) << "a vector without its data file";
  }
}

void Schedule::RewriteDeletes() {
  service::RewriteDeletesOptions options;
  options.rewrite.batch_files_max = 1 + Pick(8);
  options.plan.equality = Pick(4) != 0;
  options.plan.positions = Pick(4) != 0;
  options.plan.dangling = Pick(4) != 0;
  options.plan.min_input_files = 2;
  options.plan.by_file = Pick(3) == 0;
  Note("[deletes");
  Intrude("");
  act::CommitEnvironment environment = world_.Environment(*world_.catalog);
  const auto done = world_.AsProcess([&] { return service::RewriteDeletes(environment, SimTable::Id(), options); });
  world_.intrude = nullptr;
  Note("]");
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  for (const act::GroupFailure& failure : done->outcome.failures) ADD_FAILURE() << ToString(failure.error);
  if (done->outcome.snapshot_id) ++deletes_rewritten_;
  CheckFiles();
}

void Schedule::Run(int steps) {
  world_.retry.attempts_max = 100;
  Append(0);
  Append(1);
  for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
    if (upgrades_ && i == steps / 2) {
      Note("upgrade");
      world_.Fail(world_.table().Upgrade());
      version_ = 3;
      Append(0);  // rows get their ids: a plan made before could not be committed
    }
    switch (Pick(6)) {
      case 0:
      case 1: Rewrite(); break;
      case 2: RewriteDeletes(); break;
      default: Write();
    }
    Check("step " + std::to_string(i));
  }
  if (testing::Test::HasFailure()) return;
  // Everything is folded, nothing interferes: no delete is needed any more.
  for (const std::int32_t part : {0, 1}) {
    act::RewriteGroup group = world_.RewriteOf(part, 10'000, {.row_maps = true, .fold = true, .shuffle = false});
    if (group.removed.empty()) continue;
    const auto report = world_.Run(world_.PlanOf({std::move(group)}, "last-" + std::to_string(part)));
    EXPECT_TRUE(report.commit.status.has_value()) << ToString(report.commit.status.error());
  }
  Check("the end");
}

struct Formats {
  const char* name;
  std::int32_t version;
  bool upgrades;  // to version 3, half way
};

class RebaseScheduleTest : public testing::TestWithParam<Formats> {};

TEST_P(RebaseScheduleTest, RandomWriters_RowsEqualTheModel) {
  const char* const chosen = std::getenv("FIRN_SEED");
  const std::uint64_t first = chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
  const char* const wanted = std::getenv("FIRN_SCHEDULES");
  const std::uint64_t count = chosen != nullptr ? 1 : wanted == nullptr ? 5 : std::strtoull(wanted, nullptr, 10);
  int deletes_rewritten = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Schedule schedule(GetParam().version, GetParam().upgrades, seed);
    schedule.Run(25);
    deletes_rewritten += schedule.deletes_rewritten();
    ASSERT_FALSE(HasFailure()) << "FIRN_SEED=" << seed << " " << GetParam().name << ": " << schedule.trace();
  }
  EXPECT_TRUE(count == 1 || deletes_rewritten > static_cast<int>(count) / 2) << deletes_rewritten;
}

INSTANTIATE_TEST_SUITE_P(Formats, RebaseScheduleTest,
                         testing::Values(Formats{"V2", 2, false}, Formats{"V3", 3, false}, Formats{"V2ToV3", 2, true}),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace firn::sim
