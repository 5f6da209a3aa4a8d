// SPDX-License-Identifier: Apache-2.0
#include "iceberg/table_update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace firn::iceberg {
namespace {

TableMetadata Base(std::int32_t format_version) {
  json::Value tree = *json::Parse(R"json({"format-version":2,"table-uuid":"9C12d441-03fe-4693-9a96-a0705ddf69c1",
      "location":"s3://b/t","last-sequence-number":5,"last-updated-ms":10000,"last-column-id":1,
      "x-future":{"big":9007199254740993},
      "schema":{"type":"struct","schema-id":0,"fields":[]},"partition-spec":[],
      "current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[]}],
      "default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,
      "default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],
      "properties":{"keep":"1","drop":"2"},
      "current-snapshot-id":2,"snapshots":[
        {"snapshot-id":1,"timestamp-ms":8000,"summary":{"operation":"append"},"manifest-list":"1.avro","x-mine":1},
        {"snapshot-id":2,"parent-snapshot-id":1,"timestamp-ms":9000,"summary":{"operation":"append"},
         "manifest-list":"2.avro"}],
      "snapshot-log":[{"snapshot-id":1,"timestamp-ms":8000},{"snapshot-id":2,"timestamp-ms":9000}],
      "refs":{"main":{"snapshot-id":2,"type":"branch","min-snapshots-to-keep":3,"x-ref":1},
        "first":{"snapshot-id":1,"type":"tag"}},
      "statistics":[
        {"snapshot-id":1,"statistics-path":"s1","file-size-in-bytes":1,"file-footer-size-in-bytes":1},
        {"snapshot-id":2,"statistics-path":"s2","file-size-in-bytes":1,"file-footer-size-in-bytes":1}],
      "partition-statistics":[{"snapshot-id":1,"statistics-path":"p1","file-size-in-bytes":1}]})json");
  tree.Set("format-version", format_version);
  if (format_version == 1) tree.Remove("last-sequence-number");
  if (format_version >= 3) tree.Set("next-row-id", 100);
  return *TableMetadata::FromTree(std::move(tree));
}

/// Members of NewSnapshot() that every format version writes.
#define NEW_SNAPSHOT                                                                                  \
  R"("snapshot-id":30,"parent-snapshot-id":2,"timestamp-ms":20000,"summary":{"operation":"replace",)" \
  R"("firn.plan-id":"x"},"manifest-list":"30.avro","schema-id":0)"

Snapshot NewSnapshot(std::int32_t format_version) {
  Snapshot snapshot;
  snapshot.id = SnapshotId(30);
  snapshot.parent_id = SnapshotId(2);
  snapshot.sequence_number = SequenceNumber(format_version == 1 ? 0 : 6);
  snapshot.timestamp = {20000};
  snapshot.manifest_list = "30.avro";
  snapshot.summary = {{"operation", "replace"}, {"firn.plan-id", "x"}};
  snapshot.schema_id = SchemaId(0);
  if (format_version >= 3) {
    snapshot.first_row_id = 100;
    snapshot.added_rows = 7;
  }
  return snapshot;
}

SnapshotRef Main(std::int64_t snapshot_id) { return {.name = "main", .snapshot_id = SnapshotId(snapshot_id)}; }

Result<TableMetadata> Update(const TableMetadata& base, const std::vector<TableUpdate>& updates) {
  return ApplyUpdates(base, "m5.json", updates, {30000});
}

/// Members of the root that differ.
std::vector<std::string> ChangedMembers(const json::Value& before, const json::Value& after) {
  std::vector<std::string> changed;
  for (const auto& [name, value] : after.members()) {
    const json::Value* old = before.Find(name);
    if (old == nullptr || !(*old == value)) changed.push_back(name);
  }
  for (const auto& [name, value] : before.members()) {
    if (after.Find(name) == nullptr) changed.push_back("-" + name);
  }
  return changed;
}

TEST(ApplyUpdates, CommitToMain_ChangesOnlyWhatItMust) {
  const struct {
    std::int32_t format_version;
    std::vector<std::string> changed;
    const char* snapshot;
  } cases[] = {
      {1,
       {"last-updated-ms", "current-snapshot-id", "snapshots", "snapshot-log", "refs", "metadata-log"},
       "{" NEW_SNAPSHOT "}"},
      {2,
       {"last-sequence-number", "last-updated-ms", "current-snapshot-id", "snapshots", "snapshot-log", "refs",
        "metadata-log"},
       "{\"sequence-number\":6," NEW_SNAPSHOT "}"},
      {3,
       {"last-sequence-number", "last-updated-ms", "current-snapshot-id", "snapshots", "snapshot-log", "refs",
        "next-row-id", "metadata-log"},
       "{\"sequence-number\":6," NEW_SNAPSHOT ",\"first-row-id\":100,\"added-rows\":7}"},
  };
  for (const auto& [version, changed, snapshot] : cases) {
    const TableMetadata base = Base(version);
    SnapshotRef main = *base.FindRef("main");
    main.snapshot_id = SnapshotId(30);
    const auto after = Update(base, {AddSnapshot{NewSnapshot(version)}, SetSnapshotRef{main}});
    ASSERT_TRUE(after.has_value()) << version << ": " << ToString(after.error());
    EXPECT_EQ(ChangedMembers(base.tree(), after->tree()), changed) << version;
    const auto& snapshots = after->tree().Find("snapshots")->elements();
    ASSERT_EQ(snapshots.size(), 3u);
    EXPECT_EQ(snapshots[0], base.tree().Find("snapshots")->elements()[0]);
    EXPECT_EQ(json::Write(snapshots[2]), snapshot);
    EXPECT_EQ(json::Write(*after->tree().Find("refs")->Find("main")),
              R"({"snapshot-id":30,"type":"branch","x-ref":1,"min-snapshots-to-keep":3})");
    EXPECT_EQ(after->last_updated().value, 30000);
    EXPECT_EQ(json::Write(after->tree().Find("snapshot-log")->elements().back()),
              R"({"timestamp-ms":30000,"snapshot-id":30})");
    EXPECT_EQ(json::Write(*after->tree().Find("metadata-log")),
              R"([{"timestamp-ms":10000,"metadata-file":"m5.json"}])");
    EXPECT_EQ(after->current_snapshot()->id, SnapshotId(30));
    EXPECT_EQ(after->last_sequence_number().value, version == 1 ? 0 : 6);
    EXPECT_EQ(after->next_row_id(), version == 3 ? 107 : 0);
  }
}

TEST(ApplyUpdates, CommitToBranch_LeavesMainAlone) {
  const auto after =
      Update(Base(2), {AddSnapshot{NewSnapshot(2)}, SetSnapshotRef{{.name = "audit", .snapshot_id = SnapshotId(30)}}});
  ASSERT_TRUE(after.has_value()) << ToString(after.error());
  EXPECT_EQ(after->current_snapshot()->id, SnapshotId(2));
  EXPECT_EQ(after->RefSnapshot("audit")->id, SnapshotId(30));
  EXPECT_EQ(after->tree().Find("snapshot-log")->elements().size(), 2u);
  EXPECT_EQ(after->last_sequence_number(), SequenceNumber(6));
}

TEST(ApplyUpdates, RefsMemberMissing_MainIsWrittenToo) {
  json::Value tree = Base(2).tree();
  tree.Remove("refs");
  const TableMetadata base = *TableMetadata::FromTree(std::move(tree));
  const auto after = Update(base, {SetSnapshotRef{{.name = "t", .snapshot_id = SnapshotId(1), .is_branch = false}}});
  ASSERT_TRUE(after.has_value()) << ToString(after.error());
  EXPECT_EQ(json::Write(*after->tree().Find("refs")),
            R"({"main":{"snapshot-id":2,"type":"branch"},"t":{"snapshot-id":1,"type":"tag"}})");
}

TEST(ApplyUpdates, EmptyTable_GetsItsFirstSnapshot) {
  json::Value tree = Base(2).tree();
  for (const char* member : {"refs", "snapshots", "snapshot-log", "statistics", "partition-statistics", "properties"}) {
    tree.Remove(member);
  }
  tree.Set("current-snapshot-id", -1);
  const TableMetadata base = *TableMetadata::FromTree(std::move(tree));
  Snapshot first = NewSnapshot(2);
  first.parent_id.reset();
  const auto after = Update(base, {AddSnapshot{first}, SetSnapshotRef{Main(30)}});
  ASSERT_TRUE(after.has_value()) << ToString(after.error());
  EXPECT_EQ(after->current_snapshot()->id, SnapshotId(30));
  EXPECT_EQ(after->tree().Find("snapshot-log")->elements().size(), 1u);
}

TEST(ApplyUpdates, TwoSnapshotsInOneChange_LogOnlyTheLast) {
  Snapshot second = NewSnapshot(2);
  second.id = SnapshotId(31);
  second.parent_id = SnapshotId(30);
  second.sequence_number = SequenceNumber(7);
  const auto after = Update(
      Base(2), {AddSnapshot{NewSnapshot(2)}, SetSnapshotRef{Main(30)}, AddSnapshot{second}, SetSnapshotRef{Main(31)}});
  ASSERT_TRUE(after.has_value()) << ToString(after.error());
  const auto& log = after->tree().Find("snapshot-log")->elements();
  ASSERT_EQ(log.size(), 3u);
  EXPECT_EQ(log.back().Find("snapshot-id")->AsInt64(), 31);
}

TEST(ApplyUpdates, ExpiredSnapshot_TakesItsHistoryAndStatistics) {
  const TableMetadata base = Base(2);
  const auto after = Update(base, {RemoveSnapshotRef{"first"}, RemoveSnapshots{{SnapshotId(1), SnapshotId(99)}}});
  ASSERT_TRUE(after.has_value()) << ToString(after.error());
  EXPECT_EQ(ChangedMembers(base.tree(), after->tree()),
            (std::vector<std::string>{"last-updated-ms", "snapshots", "snapshot-log", "refs", "statistics",
                                      "partition-statistics", "metadata-log"}));
  EXPECT_EQ(after->snapshots().size(), 1u);
  EXPECT_EQ(json::Write(*after->tree().Find("snapshot-log")), R"([{"snapshot-id":2,"timestamp-ms":9000}])");
  ASSERT_EQ(after->statistics().size(), 1u);
  EXPECT_EQ(after->statistics()[0].path, "s2");
  EXPECT_EQ(after->current_snapshot()->parent_id, SnapshotId(1));  // parents may be gone
  EXPECT_FALSE(after->IsAncestor(SnapshotId(9), SnapshotId(2)));
}

TEST(ApplyUpdates, RemovedMiddleOfTheHistory_DropsAllBeforeIt) {
  json::Value tree = Base(2).tree();
  const auto entry = [](std::int64_t id) {
    return *json::Parse(fmt::format(R"({{"snapshot-id":{},"timestamp-ms":9000}})", id));
  };
  json::Value log = json::Value::Array();
  for (const std::int64_t id : {2, 1, 2, 1, 2}) log.Append(entry(id));
  tree.Set("snapshot-log", std::move(log));
  tree.Find("refs")->Remove("first");
  const auto after = Update(*TableMetadata::FromTree(std::move(tree)), {RemoveSnapshots{{SnapshotId(1)}}});
  ASSERT_TRUE(after.has_value()) << ToString(after.error());
  EXPECT_EQ(json::Write(*after->tree().Find("snapshot-log")), R"([{"snapshot-id":2,"timestamp-ms":9000}])");
}

TEST(ApplyUpdates, Properties_SetAndRemovedInPlace) {
  const TableMetadata base = Base(2);
  const auto after = Update(base, {SetProperties{{{"keep", "9"}, {"new", "ä"}}}, RemoveProperties{{"drop", "none"}}});
  ASSERT_TRUE(after.has_value()) << ToString(after.error());
  EXPECT_EQ(json::Write(*after->tree().Find("properties")), R"({"keep":"9","new":"ä"})");
}

TEST(ApplyUpdates, UpgradeToVersion3_RowIdsBeginAtZero) {
  const TableMetadata base = Base(2);
  const auto upgraded = Update(base, {UpgradeFormatVersion{3}});
  ASSERT_TRUE(upgraded.has_value()) << ToString(upgraded.error());
  EXPECT_EQ(upgraded->format_version(), 3);
  EXPECT_EQ(upgraded->next_row_id(), 0);
  std::vector<std::string> changed = ChangedMembers(base.tree(), upgraded->tree());
  std::ranges::sort(changed);
  EXPECT_EQ(changed, (std::vector<std::string>{"format-version", "last-updated-ms", "metadata-log", "next-row-id"}));
  EXPECT_EQ(Update(*upgraded, {UpgradeFormatVersion{3}})->next_row_id(), 0);
  EXPECT_EQ(Update(Base(1), {UpgradeFormatVersion{3}}).error().code, Code::kUnsupported);
  EXPECT_EQ(Update(Base(3), {UpgradeFormatVersion{2}}).error().code, Code::kUnsupported);
  EXPECT_EQ(json::Write(ToJson(TableUpdate(UpgradeFormatVersion{3}), 2)),
            R"({"action":"upgrade-format-version","format-version":3})");
}

TEST(ApplyUpdates, MetadataLog_CutToTheSetting) {
  TableMetadata metadata = Base(2);
  metadata = *Update(metadata, {SetProperties{{{"write.metadata.previous-versions-max", "3"}}}});
  for (int i = 0; i < 5; ++i) {
    const auto next = ApplyUpdates(metadata, fmt::format("m{}.json", i), {}, {40000 + i});
    ASSERT_TRUE(next.has_value());
    metadata = *next;
  }
  EXPECT_EQ(metadata.metadata_log(), (std::vector<std::string>{"m2.json", "m3.json", "m4.json"}));
  EXPECT_EQ(metadata.tree().Find("metadata-log")->elements().back().Find("timestamp-ms")->AsInt64(), 40003);
  const auto bad = Update(metadata, {SetProperties{{{"write.metadata.previous-versions-max", "many"}}}});
  EXPECT_EQ(bad.error().code, Code::kInvalidArgument);
  const auto one = Update(metadata, {SetProperties{{{"write.metadata.previous-versions-max", "0"}}}});
  EXPECT_EQ(one->metadata_log(), std::vector<std::string>{"m5.json"});
  EXPECT_TRUE(ApplyUpdates(Base(2), "", {}, {30000})->metadata_log().empty());
}

TEST(ApplyUpdates, ClockBehind_NeverMovesTimeBack) {
  const auto after = ApplyUpdates(Base(2), "m5.json", {AddSnapshot{NewSnapshot(2)}, SetSnapshotRef{Main(30)}}, {100});
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->last_updated().value, 20000);  // the snapshot's own time
  EXPECT_EQ(ApplyUpdates(Base(2), "m5.json", {}, {100})->last_updated().value, 10000);
}

struct WrongUpdate {
  const char* name;
  std::int32_t format_version;
  std::vector<TableUpdate> updates;
  const char* message;
};

AddSnapshot Changed(std::int32_t format_version, void (*change)(Snapshot&)) {
  AddSnapshot update{NewSnapshot(format_version)};
  change(update.snapshot);
  return update;
}

std::vector<WrongUpdate> WrongUpdates() {
  return {
      {"id taken", 2, {Changed(2, [](Snapshot& s) { s.id = SnapshotId(1); })}, "exists already"},
      {"id twice", 2, {AddSnapshot{NewSnapshot(2)}, AddSnapshot{NewSnapshot(2)}}, "exists already"},
      {"negative id", 2, {Changed(2, [](Snapshot& s) { s.id = SnapshotId(-1); })}, "not positive"},
      {"old sequence number",
       2,
       {Changed(2, [](Snapshot& s) { s.sequence_number = SequenceNumber(5); })},
       "sequence number 5"},
      {"sequence number in v1", 1, {AddSnapshot{NewSnapshot(2)}}, "no sequence numbers"},
      {"no parent", 2, {Changed(2, [](Snapshot& s) { s.parent_id = SnapshotId(77); })}, "parent is missing"},
      {"older than the parent", 2, {Changed(2, [](Snapshot& s) { s.timestamp = {9000 - 60001}; })}, "minute"},
      {"no manifest list", 2, {Changed(2, [](Snapshot& s) { s.manifest_list.clear(); })}, "manifest list"},
      {"no operation", 2, {Changed(2, [](Snapshot& s) { s.summary.clear(); })}, "operation"},
      {"unknown schema", 2, {Changed(2, [](Snapshot& s) { s.schema_id = SchemaId(4); })}, "schema"},
      {"row ids in v2", 2, {AddSnapshot{Changed(3, [](Snapshot&) {})}}, "format version 3"},
      {"no row ids in v3", 3, {Changed(3, [](Snapshot& s) { s.first_row_id.reset(); })}, "row id range"},
      {"stale first row id", 3, {Changed(3, [](Snapshot& s) { s.first_row_id = 99; })}, "next row id 100"},
      {"negative added rows", 3, {Changed(3, [](Snapshot& s) { s.added_rows = -1; })}, "no range"},
      {"row id overflow", 3, {Changed(3, [](Snapshot& s) { s.added_rows = 9223372036854775807; })}, "no range"},
      {"ref to nothing", 2, {SetSnapshotRef{Main(77)}}, "does not exist"},
      {"ref without name", 2, {SetSnapshotRef{{.name = "", .snapshot_id = SnapshotId(1)}}}, "name"},
      {"main as tag", 2, {SetSnapshotRef{{.name = "main", .snapshot_id = SnapshotId(1), .is_branch = false}}}, "main"},
      {"tag to branch", 2, {SetSnapshotRef{{.name = "first", .snapshot_id = SnapshotId(2)}}}, "branch and tag"},
      {"tag with branch retention",
       2,
       {SetSnapshotRef{{.name = "t", .snapshot_id = SnapshotId(2), .is_branch = false, .min_snapshots_to_keep = 1}}},
       "tag `t`"},
      {"remove main", 2, {RemoveSnapshotRef{"main"}}, "cannot be removed"},
      {"expire the head", 2, {RemoveSnapshots{{SnapshotId(2)}}}, "ref `main`"},
      {"expire a tag's snapshot", 2, {RemoveSnapshots{{SnapshotId(1)}}}, "ref `first`"},
  };
}

TEST(ApplyUpdates, WrongUpdates_RefusedWithTheReason) {
  for (const WrongUpdate& wrong : WrongUpdates()) {
    const auto after = Update(Base(wrong.format_version), wrong.updates);
    ASSERT_FALSE(after.has_value()) << wrong.name;
    EXPECT_EQ(after.error().code, Code::kInvalidArgument) << wrong.name;
    EXPECT_NE(after.error().message.find(wrong.message), std::string::npos)
        << wrong.name << ": " << after.error().message;
  }
}

TEST(ApplyUpdates, ImpliedMain_CannotBeExpiredEither) {
  json::Value tree = Base(2).tree();
  tree.Remove("refs");
  const auto after = Update(*TableMetadata::FromTree(std::move(tree)), {RemoveSnapshots{{SnapshotId(2)}}});
  EXPECT_EQ(after.error().code, Code::kInvalidArgument);
}

TEST(CheckRequirements, EachKind_HoldsOrConflicts) {
  const TableMetadata base = Base(2);
  const struct {
    TableRequirement requirement;
    bool holds;
  } cases[] = {
      {AssertTableUuid{"9c12d441-03fe-4693-9a96-a0705ddf69c1"}, true},
      {AssertTableUuid{"00000000-03fe-4693-9a96-a0705ddf69c1"}, false},
      {AssertRefSnapshotId{"main", SnapshotId(2)}, true},
      {AssertRefSnapshotId{"main", SnapshotId(1)}, false},
      {AssertRefSnapshotId{"main", std::nullopt}, false},
      {AssertRefSnapshotId{"none", std::nullopt}, true},
      {AssertRefSnapshotId{"none", SnapshotId(1)}, false},
      {AssertCurrentSchemaId{SchemaId(0)}, true},
      {AssertCurrentSchemaId{SchemaId(1)}, false},
      {AssertDefaultSpecId{SpecId(0)}, true},
      {AssertDefaultSpecId{SpecId(1)}, false},
      {AssertDefaultSortOrderId{SortOrderId(0)}, true},
      {AssertDefaultSortOrderId{SortOrderId(1)}, false},
  };
  for (const auto& [requirement, holds] : cases) {
    const Status status = CheckRequirements(base, {AssertDefaultSpecId{SpecId(0)}, requirement});
    EXPECT_EQ(status.has_value(), holds) << json::Write(ToJson(requirement));
    EXPECT_TRUE(holds || status.error().code == Code::kConflict);
  }
}

TEST(UpdateJson, EachKind_AsTheProtocolNamesIt) {
  const std::pair<TableRequirement, const char*> requirements[] = {
      {AssertTableUuid{"u"}, R"({"type":"assert-table-uuid","uuid":"u"})"},
      {AssertRefSnapshotId{"main", SnapshotId(9007199254740993)},
       R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":9007199254740993})"},
      {AssertRefSnapshotId{"b", std::nullopt}, R"({"type":"assert-ref-snapshot-id","ref":"b","snapshot-id":null})"},
      {AssertCurrentSchemaId{SchemaId(1)}, R"({"type":"assert-current-schema-id","current-schema-id":1})"},
      {AssertDefaultSpecId{SpecId(2)}, R"({"type":"assert-default-spec-id","default-spec-id":2})"},
      {AssertDefaultSortOrderId{SortOrderId(3)},
       R"({"type":"assert-default-sort-order-id","default-sort-order-id":3})"},
  };
  for (const auto& [requirement, text] : requirements) EXPECT_EQ(json::Write(ToJson(requirement)), text);

  const std::pair<TableUpdate, const char*> updates[] = {
      {AddSnapshot{NewSnapshot(3)}, "{\"action\":\"add-snapshot\",\"snapshot\":{\"sequence-number\":6," NEW_SNAPSHOT
                                    ",\"first-row-id\":100,\"added-rows\":7}}"},
      {SetSnapshotRef{
           {.name = "main", .snapshot_id = SnapshotId(3), .max_snapshot_age_ms = 5, .min_snapshots_to_keep = 4}},
       R"({"action":"set-snapshot-ref","ref-name":"main","snapshot-id":3,"type":"branch",)"
       R"("min-snapshots-to-keep":4,"max-snapshot-age-ms":5})"},
      {RemoveSnapshotRef{"t"}, R"({"action":"remove-snapshot-ref","ref-name":"t"})"},
      {RemoveSnapshots{{SnapshotId(1), SnapshotId(2)}}, R"({"action":"remove-snapshots","snapshot-ids":[1,2]})"},
      {SetProperties{{{"a", "1"}}}, R"({"action":"set-properties","updates":{"a":"1"}})"},
      {RemoveProperties{{"a"}}, R"({"action":"remove-properties","removals":["a"]})"},
  };
  for (const auto& [update, text] : updates) EXPECT_EQ(json::Write(ToJson(update, 3)), text);
}

}  // namespace
}  // namespace firn::iceberg
