// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/random.h"
#include "contract/catalog_fixture.h"
#include "ports/location.h"
#include "ports/metadata_file.h"

namespace firn::contract {
namespace {

using ports::Catalog;
using ports::LoadedTable;
using ports::Properties;
using ports::TableCommit;
using ports::TableIdentifier;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TableCommit SetProperty(const std::string& key, const std::string& value) {
  return {{}, {iceberg::SetProperties{{{key, value}}}}};
}

/// A new head of main on `base`, under the condition that nobody else made one.
TableCommit Append(const LoadedTable& base, std::int64_t snapshot_id) {
  const iceberg::Snapshot* head = base.metadata->current_snapshot();
  iceberg::Snapshot snapshot;
  snapshot.id = SnapshotId(snapshot_id);
  if (head) snapshot.parent_id = head->id;
  snapshot.sequence_number = SequenceNumber(base.metadata->last_sequence_number().value + 1);
  snapshot.timestamp = TimestampMs{std::max(base.metadata->last_updated().value, std::int64_t{1'700'000'000'000})};
  snapshot.manifest_list = fmt::format("{}/metadata/snap-{}.avro", base.metadata->location(), snapshot_id);
  snapshot.summary = {{"operation", "append"}};
  snapshot.schema_id = base.metadata->current_schema().id();
  iceberg::AssertRefSnapshotId unchanged{"main", head ? std::optional(head->id) : std::nullopt};
  return {{iceberg::AssertTableUuid{base.metadata->table_uuid()}, unchanged},
          {iceberg::AddSnapshot{snapshot}, iceberg::SetSnapshotRef{{"main", snapshot.id, true, {}, {}, {}}}}};
}

/// Commits `count` snapshots, retrying after conflicts; how many calls returned success.
int CommitMany(Catalog& catalog, const TableIdentifier& id, int count, Random random) {
  int done = 0;
  for (int i = 0; i < count; ++i) {
    const auto snapshot_id = static_cast<std::int64_t>(random.Next() >> 1) | 1;
    for (int attempt = 0; attempt < 10'000; ++attempt) {
      const auto base = catalog.LoadTable(id);
      if (!base) return -1;
      const auto committed = catalog.CommitTable(*base, Append(*base, snapshot_id));
      if (committed) {
        ++done;
        break;
      }
      if (committed.error().code != Code::kConflict) {
        ADD_FAILURE() << ToString(committed.error());
        return -1;
      }
    }
  }
  return done;
}

/// Every snapshot is on the one line of ancestors of main, and their number is `count`.
void ExpectOneLine(const LoadedTable& table, std::int64_t count) {
  EXPECT_EQ(std::ssize(table.metadata->snapshots()), count);
  std::int64_t length = 0;
  for (const auto* at = table.metadata->current_snapshot(); at; ++length) {
    at = at->parent_id ? table.metadata->FindSnapshot(*at->parent_id) : nullptr;
  }
  EXPECT_EQ(length, count);
  EXPECT_EQ(table.metadata->last_sequence_number().value, count);
}

class CatalogContract : public testing::TestWithParam<CatalogCase> {
 protected:
  void SetUp() override {
    store_ = GetParam().make();
    auto catalog = store_->Open();
    ASSERT_TRUE(catalog) << ToString(catalog.error());
    catalog_ = *catalog;
  }
  TableIdentifier MakeTable(const std::string& name, const Properties& properties = {}) {
    auto id = store_->MakeTable(name, properties);
    EXPECT_TRUE(id) << ToString(id.error());
    return id.value_or(TableIdentifier{});
  }
  LoadedTable Load(const TableIdentifier& id) {
    auto table = catalog_->LoadTable(id);
    EXPECT_TRUE(table) << ToString(table.error());
    return table.value_or(LoadedTable{});
  }
  std::vector<std::string> MetadataFiles(const LoadedTable& table) {
    const auto io = catalog_->TableIO(table).value();
    std::vector<std::string> names;
    const auto listed = io->List(table.metadata->location() + "/metadata/", "");
    EXPECT_TRUE(listed) << ToString(listed.error());
    for (const auto& file : listed ? listed->files : std::vector<ports::FileInfo>{}) {
      if (ports::IsMetadataFileName(file.location)) names.emplace_back(ports::FileNameOf(file.location));
    }
    return names;
  }

  std::unique_ptr<CatalogStore> store_;
  std::shared_ptr<Catalog> catalog_;
};

TEST_P(CatalogContract, LoadTable_Missing_NotFoundWithItsName) {
  const auto table = catalog_->LoadTable(store_->MissingTable());
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, Code::kNotFound) << ToString(table.error());
  EXPECT_THAT(table.error().message, HasSubstr("missing"));
}

TEST_P(CatalogContract, LoadTable_Registered_ReturnsMetadataAndLocation) {
  const auto id = MakeTable("t", {{"color", "blue"}});
  const LoadedTable table = Load(id);
  EXPECT_EQ(ToString(table.id), ToString(id));
  EXPECT_EQ(table.metadata->Property("color", ""), "blue");
  EXPECT_FALSE(table.metadata->table_uuid().empty());
  EXPECT_TRUE(ports::IsMetadataFileName(table.metadata_location)) << table.metadata_location;
  const auto io = catalog_->TableIO(table).value();
  EXPECT_TRUE(io->Exists(table.metadata_location).value()) << table.metadata_location;
}

TEST_P(CatalogContract, CommitTable_OnCurrentBase_IsVisibleToOthers) {
  const auto id = MakeTable("t");
  const LoadedTable base = Load(id);
  const auto committed = catalog_->CommitTable(base, SetProperty("a", "1"));
  ASSERT_TRUE(committed) << ToString(committed.error());
  EXPECT_EQ(committed->metadata->Property("a", ""), "1");
  EXPECT_NE(committed->metadata_location, base.metadata_location);

  const auto other = store_->Open().value();
  const auto seen = other->LoadTable(id);
  ASSERT_TRUE(seen) << ToString(seen.error());
  EXPECT_EQ(seen->metadata_location, committed->metadata_location);
  EXPECT_EQ(seen->metadata->Property("a", ""), "1");
  EXPECT_THAT(seen->metadata->metadata_log(), Contains(base.metadata_location));
  EXPECT_EQ(seen->metadata->table_uuid(), base.metadata->table_uuid());
}

TEST_P(CatalogContract, CommitTable_StaleBase_ConflictAndNothingChanges) {
  const auto id = MakeTable("t");
  const LoadedTable base = Load(id);
  ASSERT_TRUE(catalog_->CommitTable(base, Append(base, 11)));
  const auto before = MetadataFiles(base);
  const auto late = catalog_->CommitTable(base, Append(base, 12));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kConflict) << ToString(late.error());
  ExpectOneLine(Load(id), 1);
  EXPECT_EQ(MetadataFiles(base), before) << "files of a refused commit are removed";
}

TEST_P(CatalogContract, CommitTable_StaleBaseWithoutRequirements_ConflictWhereTheBaseCounts) {
  const auto id = MakeTable("t");
  const LoadedTable base = Load(id);
  ASSERT_TRUE(catalog_->CommitTable(base, SetProperty("a", "1")));
  const auto late = catalog_->CommitTable(base, SetProperty("b", "2"));
  if (store_->checks_base) {
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::kConflict);
  } else {
    ASSERT_TRUE(late) << ToString(late.error());
    EXPECT_EQ(late->metadata->Property("a", ""), "1") << "the server applies it to the newest state";
  }
}

TEST_P(CatalogContract, CommitTable_RequirementDoesNotHold_Conflict) {
  const auto id = MakeTable("t");
  const LoadedTable base = Load(id);
  TableCommit commit = SetProperty("a", "1");
  commit.requirements.push_back(iceberg::AssertRefSnapshotId{"main", SnapshotId(99)});
  const auto committed = catalog_->CommitTable(base, commit);
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kConflict) << ToString(committed.error());
  EXPECT_EQ(Load(id).metadata->Property("a", "none"), "none");
}

TEST_P(CatalogContract, CommitTable_TableMadeAgain_ConflictThatSaysSo) {
  const auto id = MakeTable("t");
  const LoadedTable base = Load(id);
  ASSERT_TRUE(store_->DropTable(id));
  MakeTable("t");
  const auto committed = catalog_->CommitTable(base, SetProperty("a", "1"));
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kConflict) << ToString(committed.error());
  EXPECT_THAT(committed.error().message, testing::ContainsRegex("[uU][uU][iI][dD]"));
  EXPECT_THAT(committed.error().message, HasSubstr(base.metadata->table_uuid()));
  EXPECT_EQ(Load(id).metadata->Property("a", "none"), "none");
}

TEST_P(CatalogContract, CommitTable_TableGone_NotFound) {
  const auto id = MakeTable("t");
  const LoadedTable base = Load(id);
  ASSERT_TRUE(store_->DropTable(id));
  const auto committed = catalog_->CommitTable(base, SetProperty("a", "1"));
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kNotFound) << ToString(committed.error());
}

TEST_P(CatalogContract, CommitTable_ImpossibleUpdate_RefusedAndNothingWritten) {
  const auto id = MakeTable("t");
  const LoadedTable base = Load(id);
  const auto before = MetadataFiles(base);
  const TableCommit commit{{}, {iceberg::SetSnapshotRef{{"main", SnapshotId(404), true, {}, {}, {}}}}};
  const auto committed = catalog_->CommitTable(base, commit);
  ASSERT_FALSE(committed);
  EXPECT_NE(committed.error().code, Code::kConflict);
  // The Java server answers 500 here, and then nothing is certain.
  if (store_->checks_base) {
    EXPECT_NE(committed.error().code, Code::kOutcomeUnknown);
  }
  EXPECT_EQ(MetadataFiles(base), before);
  EXPECT_EQ(Load(id).metadata_location, base.metadata_location);
}

TEST_P(CatalogContract, CommitTable_UnknownMembers_SurviveExactly) {
  if (!store_->writes_files) GTEST_SKIP() << "the server writes the metadata";
  const auto id = MakeTable("t");
  const auto committed = catalog_->CommitTable(Load(id), SetProperty("a", "1"));
  ASSERT_TRUE(committed);
  const LoadedTable table = Load(id);
  const json::Value* unknown = table.metadata->tree().Find("x-unknown");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(json::Write(*unknown), R"({"large":9007199254740993})");
}

TEST_P(CatalogContract, CommitTable_Gzip_NamesAndPacksTheFile) {
  const auto id = MakeTable("t", {{"write.metadata.compression-codec", "GZIP"}});
  auto committed = catalog_->CommitTable(Load(id), SetProperty("a", "1"));
  ASSERT_TRUE(committed) << ToString(committed.error());
  EXPECT_THAT(committed->metadata_location, testing::EndsWith(".gz.metadata.json"));
  committed = catalog_->CommitTable(Load(id), SetProperty("b", "2"));
  ASSERT_TRUE(committed) << ToString(committed.error());
  const LoadedTable table = Load(id);
  EXPECT_EQ(table.metadata->Property("a", "") + table.metadata->Property("b", ""), "12");
  const auto io = catalog_->TableIO(table).value();
  const Bytes bytes = ports::ReadFile(*io, table.metadata_location).value();
  ASSERT_GT(bytes.size(), 2U);
  EXPECT_EQ(bytes[0], 0x1f);
  EXPECT_EQ(bytes[1], 0x8b);
}

TEST_P(CatalogContract, CommitTable_UnknownCodec_IsRefusedBeforeWriting) {
  if (!store_->writes_files) GTEST_SKIP() << "the server writes the metadata";
  const auto id = MakeTable("t");
  const LoadedTable base = Load(id);
  const auto committed = catalog_->CommitTable(base, SetProperty("write.metadata.compression-codec", "lzma"));
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kUnsupported);
  EXPECT_EQ(MetadataFiles(base).size(), 1U);
}

TEST_P(CatalogContract, CommitTable_NewFile_IsNamedLikeJavaDoes) {
  if (!store_->has_unique_names) GTEST_SKIP() << "other names";
  const auto id = MakeTable("t");
  const auto committed = catalog_->CommitTable(Load(id), SetProperty("a", "1"));
  ASSERT_TRUE(committed);
  EXPECT_THAT(
      std::string(ports::FileNameOf(committed->metadata_location)),
      testing::MatchesRegex("00001-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}.metadata.json"));
  EXPECT_EQ(ports::ParentOf(committed->metadata_location), committed->metadata->location() + "/metadata");
}

TEST_P(CatalogContract, CommitTable_MetadataPath_IsUsed) {
  if (!store_->has_unique_names) GTEST_SKIP() << "other names";
  const auto id = MakeTable("t");
  const std::string folder = Load(id).metadata->location() + "/elsewhere/deep";
  const auto committed = catalog_->CommitTable(Load(id), SetProperty("write.metadata.path", folder + "/"));
  ASSERT_TRUE(committed) << ToString(committed.error());
  EXPECT_EQ(ports::ParentOf(committed->metadata_location), folder);
  EXPECT_EQ(Load(id).metadata_location, committed->metadata_location);
}

TEST_P(CatalogContract, CommitTable_DeleteAfterCommit_RemovesOnlyWhatLeftTheLog) {
  if (!store_->has_unique_names) GTEST_SKIP() << "old versions stay";
  const auto id = MakeTable(
      "t", {{"write.metadata.previous-versions-max", "2"}, {"write.metadata.delete-after-commit.enabled", "true"}});
  const auto io = catalog_->TableIO(Load(id)).value();
  const std::string foreign = Load(id).metadata->location() + "/metadata/00000-not-in-the-log.metadata.json";
  ASSERT_TRUE(ports::WriteFile(*io, foreign, AsBytes("{}")));
  std::vector<std::string> locations = {Load(id).metadata_location};
  for (int i = 0; i < 5; ++i) {
    const auto committed = catalog_->CommitTable(Load(id), SetProperty("i", std::to_string(i)));
    ASSERT_TRUE(committed) << ToString(committed.error());
    locations.push_back(committed->metadata_location);
  }
  for (std::size_t i = 0; i < locations.size(); ++i) {
    EXPECT_EQ(io->Exists(locations[i]).value(), i + 3 >= locations.size()) << i;
  }
  EXPECT_TRUE(io->Exists(foreign).value());
}

TEST_P(CatalogContract, ListTables_SeesTablesOnly) {
  MakeTable("b");
  MakeTable("a");
  const auto listed = catalog_->ListTables();
  ASSERT_TRUE(listed) << ToString(listed.error());
  std::set<std::string> names;
  for (const auto& id : *listed) names.insert(id.name);
  if (GetParam().name == "HadoopPath" || GetParam().name == "HadoopS3Path") {
    EXPECT_TRUE(names.empty()) << "there is no warehouse to look into";
    return;
  }
  EXPECT_TRUE(names.contains("a") && names.contains("b"));
  EXPECT_FALSE(names.contains("a_view"));
  for (const auto& id : *listed) EXPECT_TRUE(catalog_->LoadTable(id)) << ToString(id);
}

TEST_P(CatalogContract, CommitTable_EightThreads_NoUpdateIsLost) {
  constexpr int kThreads = 8;
  const int commits = store_->race_commits;
  const auto id = MakeTable("t");
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      // Half of the threads share a handle.
      const auto own = i % 2 ? catalog_ : store_->Open().value();
      done += CommitMany(*own, id, commits, Random(1000 + i));
    });
  }
  threads.clear();
  EXPECT_EQ(done, kThreads * commits);
  ExpectOneLine(Load(id), kThreads * commits);
  if (store_->has_unique_names) {
    EXPECT_EQ(std::ssize(MetadataFiles(Load(id))), 1 + kThreads * commits) << "losers remove their files";
  }
}

TEST_P(CatalogContract, CommitTable_FourProcesses_NoUpdateIsLost) {
  if (!store_->has_processes) GTEST_SKIP() << "lives in one process";
  constexpr int kProcesses = 4;
  const int commits = store_->race_commits;
  const auto id = MakeTable("t");
  std::vector<pid_t> children;
  for (std::uint64_t i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto catalog = store_->Open();
      const int done = catalog ? CommitMany(**catalog, id, commits, Random(77 + i)) : -1;
      ::_exit(done == commits ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ExpectOneLine(Load(id), kProcesses * commits);
}

INSTANTIATE_TEST_SUITE_P(All, CatalogContract, testing::ValuesIn(CatalogCases()),
                         [](const auto& suite) { return suite.param.name; });

TEST(CatalogContractCoverage, Servers) {
  const auto left_out = CatalogsLeftOut();
  if (!left_out.empty()) GTEST_SKIP() << "left out: " << fmt::format("{}", fmt::join(left_out, ", "));
}

}  // namespace
}  // namespace firn::contract
