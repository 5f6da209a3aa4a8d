// SPDX-License-Identifier: Apache-2.0
#include "ports/hadoop_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "ports/hadoop_versions.h"
#include "ports/hooked_file_io.h"
#include "ports/local_file_io.h"
#include "ports/memory_file_io.h"
#include "ports/metadata_file.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;

TEST(HadoopVersionNumberTest, Names) {
  EXPECT_EQ(HadoopVersionNumber("/t/metadata/v12.metadata.json"), 12);
  EXPECT_EQ(HadoopVersionNumber("v3.gz.metadata.json"), 3);
  EXPECT_EQ(HadoopVersionNumber("v3.metadata.json.gz"), 3);
  for (const char* name : {"v.metadata.json", "vfinal.metadata.json", "v-1.metadata.json", "v1.metadata.json.crc",
                           ".v1.metadata.json.crc", "00001-x.metadata.json", "v99999999999.metadata.json", "v1"}) {
    EXPECT_EQ(HadoopVersionNumber(name), std::nullopt) << name;
  }
}

TEST(CurrentHadoopVersionTest, Hint_IsOnlyAStart) {
  struct Expectation {
    std::string hint;  // "-": none
    std::vector<std::string> files;
    std::string current;  // empty: not found
  };
  const std::string huge(5000, '1');
  for (const auto& [hint, files, current] : std::vector<Expectation>{
           {"3", {"v3.metadata.json"}, "v3.metadata.json"},
           {"3\n", {"v3.metadata.json"}, "v3.metadata.json"},
           {" 3 \r\nrest", {"v3.metadata.json"}, "v3.metadata.json"},
           {"1",
            {"v1.metadata.json", "v2.metadata.json", "v3.metadata.json", "v4.gz.metadata.json"},
            "v4.gz.metadata.json"},
           {"2", {"v2.metadata.json.gz", "v3.metadata.json.gz"}, "v3.metadata.json.gz"},
           {"2", {"v2.gz.metadata.json", "v2.metadata.json"}, "v2.metadata.json"},
           {"7", {"v3.metadata.json", "v4.metadata.json"}, "v4.metadata.json"},
           {"1", {"v3.metadata.json", "v4.metadata.json"}, "v4.metadata.json"},
           {"-", {"v9.metadata.json", "v10.metadata.json", "v2.metadata.json"}, "v10.metadata.json"},
           {"", {"v1.metadata.json"}, "v1.metadata.json"},
           {"garbage", {"v1.metadata.json"}, "v1.metadata.json"},
           {"-5", {"v1.metadata.json"}, "v1.metadata.json"},
           {"9223372036854775807", {"v1.metadata.json"}, "v1.metadata.json"},
           {huge, {"v1.metadata.json"}, "v1.metadata.json"},
           {"1", {"00001-x.metadata.json", "snap-1.avro", "deep/v9.metadata.json"}, ""},
           {"1", {}, ""},
       }) {
    MemoryFileIO io;
    io.set_page_files(2);
    if (hint != "-") io.Put("/t/metadata/version-hint.text", Bytes(hint.begin(), hint.end()));
    for (const auto& file : files) io.Put("/t/metadata/" + file, {});
    const auto found = CurrentHadoopVersion(io, "/t/metadata");
    if (current.empty()) {
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().code, Code::kNotFound);
    } else {
      ASSERT_TRUE(found) << hint;
      EXPECT_EQ(found->location, "/t/metadata/" + current) << hint;
    }
  }
}

class HadoopCatalogTest : public testing::Test {
 protected:
  HadoopCatalogTest() {
    root_ = (std::filesystem::temp_directory_path() / ("firn-hadoop-" + std::to_string(::getpid()))).string();
    std::filesystem::remove_all(root_);
    const FileIOFactory make_io = [this](const Properties&) -> Result<std::shared_ptr<FileIO>> {
      return std::shared_ptr<FileIO>(std::make_shared<HookedFileIO>(std::make_shared<LocalFileIO>(), injector_.hook()));
    };
    catalog_ = HadoopCatalog::Open("hadoop", {}, make_io, clock_).value();
  }
  ~HadoopCatalogTest() override { std::filesystem::remove_all(root_); }

  static Bytes Metadata(const std::string& location, const std::string& properties = "{}") {
    const std::string text =
        R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":")" + location +
        R"(","last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[)"
        R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
        R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
        R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[],"properties":)" +
        properties + "}";
    return {text.begin(), text.end()};
  }
  void Put(const std::string& name, const Bytes& bytes) {
    LocalFileIO io;
    ASSERT_TRUE(WriteFile(io, root_ + "/" + name, bytes));
  }
  std::string Text(const std::string& name) {
    LocalFileIO io;
    const auto bytes = ReadFile(io, root_ + "/" + name);
    return bytes ? std::string(AsText(*bytes)) : "(none)";
  }
  void MakeTable(const std::string& properties = "{}") {
    Put("t/metadata/v1.metadata.json", Metadata("file:" + root_ + "/t", properties));
    injector_.Reset();
  }
  LoadedTable Load() {
    auto table = catalog_->LoadTable({{}, root_ + "/t"});
    EXPECT_TRUE(table) << ToString(table.error());
    return table.value_or(LoadedTable{});
  }
  Result<LoadedTable> Commit(const LoadedTable& base, const std::string& key = "a") {
    return catalog_->CommitTable(base, {{}, {iceberg::SetProperties{{{key, "1"}}}}});
  }

  std::string root_;
  FaultInjector injector_;
  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::shared_ptr<Catalog> catalog_;
};

TEST_F(HadoopCatalogTest, Commit_WritesNextVersionAndHint) {
  MakeTable();
  Put("t/metadata/.version-hint.text.crc", {1, 2, 3});
  const LoadedTable base = Load();
  EXPECT_EQ(base.metadata_location, "file:" + root_ + "/t/metadata/v1.metadata.json");
  const auto committed = Commit(base);
  ASSERT_TRUE(committed) << ToString(committed.error());
  EXPECT_EQ(committed->metadata_location, "file:" + root_ + "/t/metadata/v2.metadata.json");
  EXPECT_EQ(Text("t/metadata/version-hint.text"), "2");
  EXPECT_EQ(Text("t/metadata/.version-hint.text.crc"), "(none)") << "Java would refuse a hint with a wrong checksum";
  EXPECT_EQ(committed->metadata->metadata_log().at(0), base.metadata_location);
  EXPECT_TRUE(std::filesystem::exists(root_ + "/t/metadata/v1.metadata.json"));
}

TEST_F(HadoopCatalogTest, Commit_HintOfALaterVersion_IsNotTurnedBack) {
  MakeTable();
  const LoadedTable base = Load();
  Put("t/metadata/version-hint.text", {'9'});
  ASSERT_TRUE(Commit(base));
  EXPECT_EQ(Text("t/metadata/version-hint.text"), "9");
}

TEST_F(HadoopCatalogTest, Commit_VersionUnderAnyName_IsAConflict) {
  for (const char* name : {"v2.metadata.json", "v2.gz.metadata.json", "v2.metadata.json.gz"}) {
    std::filesystem::remove_all(root_);
    MakeTable();
    const LoadedTable base = Load();
    Put(std::string("t/metadata/") + name, Metadata("file:" + root_ + "/t", R"({"other":"1"})"));
    const auto committed = Commit(base);
    ASSERT_FALSE(committed) << name;
    EXPECT_EQ(committed.error().code, Code::kConflict) << ToString(committed.error());
    EXPECT_EQ(Load().metadata->Property("other", ""), "1");
  }
}

TEST_F(HadoopCatalogTest, Commit_CodecChange_ComesOneVersionLater) {
  MakeTable();
  auto committed =
      catalog_->CommitTable(Load(), {{}, {iceberg::SetProperties{{{"write.metadata.compression-codec", "gzip"}}}}});
  ASSERT_TRUE(committed);
  EXPECT_THAT(committed->metadata_location, testing::EndsWith("/v2.metadata.json"));
  committed = Commit(*committed);
  ASSERT_TRUE(committed);
  EXPECT_THAT(committed->metadata_location, testing::EndsWith("/v3.gz.metadata.json"));
  EXPECT_EQ(Load().metadata_location, committed->metadata_location);
}

TEST_F(HadoopCatalogTest, Commit_MetadataPath_IsRefused) {
  MakeTable(R"({"write.metadata.path":"/elsewhere"})");
  const auto committed = Commit(Load());
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kUnsupported);
}

TEST_F(HadoopCatalogTest, Commit_CopyOfATable_IsRefused) {
  MakeTable();
  std::filesystem::copy(root_ + "/t", root_ + "/copy", std::filesystem::copy_options::recursive);
  const auto copy = catalog_->LoadTable({{}, root_ + "/copy"});
  ASSERT_TRUE(copy);
  const auto committed = Commit(*copy);
  ASSERT_FALSE(committed) << "it would write into the original";
  EXPECT_EQ(committed.error().code, Code::kUnsupported);
  EXPECT_THAT(committed.error().message, HasSubstr(root_ + "/t"));
}

TEST_F(HadoopCatalogTest, Commit_ThroughALinkToTheDirectory_Works) {
  MakeTable();
  std::filesystem::create_directory_symlink(root_ + "/t", root_ + "/link");
  const auto table = catalog_->LoadTable({{}, root_ + "/link"});
  ASSERT_TRUE(table);
  EXPECT_TRUE(Commit(*table));
  EXPECT_EQ(Load().metadata->Property("a", ""), "1");
}

TEST_F(HadoopCatalogTest, Commit_FaultAtEachCall_NeverLies) {
  MakeTable();
  const LoadedTable first = Load();
  injector_.Reset();
  ASSERT_TRUE(Commit(first, "first"));
  const std::int64_t calls = injector_.call_count();
  ASSERT_GT(calls, 8);
  for (std::int64_t n = 1; n <= calls; ++n) {
    for (const int kind : {0, 1, 2, 3}) {
      injector_.Reset();
      const LoadedTable base = Load();
      const std::string key = "n" + std::to_string(n) + "-" + std::to_string(kind);
      injector_.Reset();
      if (kind == 0) injector_.FailAt(n);
      if (kind == 1) injector_.LoseReplyAt(n);
      if (kind >= 2) injector_.CrashAt(n, kind == 3);
      const auto committed = Commit(base, key);
      injector_.Reset();
      const bool applied = Load().metadata->Property(key, "") == "1";
      if (committed) {
        EXPECT_TRUE(applied) << key;
      } else if (committed.error().code != Code::kOutcomeUnknown) {
        EXPECT_FALSE(applied) << key << ToString(committed.error());
      }
    }
  }
}

TEST_F(HadoopCatalogTest, Commit_LostReplyOfTheNewVersion_IsUnknown) {
  MakeTable();
  const LoadedTable base = Load();
  injector_.Reset();
  ASSERT_TRUE(Commit(base, "first"));
  const auto trace = injector_.trace();
  const auto close = std::ranges::find_if(trace, [](const std::string& call) { return call.starts_with("close"); });
  ASSERT_NE(close, trace.end());
  const LoadedTable second = Load();
  injector_.Reset();
  injector_.LoseReplyAt(close - trace.begin() + 1);
  const auto committed = Commit(second, "second");
  ASSERT_FALSE(committed) << "it is there, but perhaps not durable";
  EXPECT_EQ(committed.error().code, Code::kOutcomeUnknown) << ToString(committed.error());
  EXPECT_EQ(Load().metadata->Property("second", ""), "1") << "others may have built on it: it is not removed";
}

TEST_F(HadoopCatalogTest, Commit_NameTakenByALinkThatWasRepeated_IsNoConflict) {
  MakeTable();
  bool is_taken = true;
  const IoHook hook = [&](const IoEvent& event) -> Status {
    if (!is_taken || event.operation != IoOperation::kClose || event.moment != IoMoment::kAfter) return Ok();
    return Error{Code::kConflict, "file exists already"};
  };
  const FileIOFactory make_io = [&](const Properties&) -> Result<std::shared_ptr<FileIO>> {
    return std::shared_ptr<FileIO>(std::make_shared<HookedFileIO>(std::make_shared<LocalFileIO>(), hook));
  };
  const auto catalog = HadoopCatalog::Open("h", {}, make_io, clock_).value();
  const auto done = catalog->CommitTable(Load(), {{}, {iceberg::SetProperties{{{"a", "1"}}}}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kOutcomeUnknown) << done.error().message;
  EXPECT_EQ(Load().metadata->Property("a", ""), "1");
}

TEST_F(HadoopCatalogTest, Names_ThatLeaveTheWarehouse_AreRefused) {
  const auto catalog = HadoopCatalog::Open("hadoop", {{"warehouse", root_ + "/wh"}}, StandardFileIO(), clock_).value();
  for (const TableIdentifier& id : std::vector<TableIdentifier>{{{"db"}, ".."}, {{".."}, "t"}, {{"a/b"}, "t"}}) {
    const auto table = catalog->LoadTable(id);
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, Code::kInvalidArgument) << ToString(id);
  }
}

/// A store that can only look before it writes.
class LookingFileIO final : public FileIO {
 public:
  explicit LookingFileIO(std::shared_ptr<MemoryFileIO> below) : below_(std::move(below)) {}
  Result<std::unique_ptr<RandomAccessSource>> Open(const std::string& location,
                                                   std::optional<std::uint64_t> size) override {
    return below_->Open(location, size);
  }
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override { return below_->Create(location); }
  Status CheckCreate(const std::string& location) override { return below_->CheckCreate(location); }
  Status CheckExclusive(const std::string& location) override { return NotExclusive(location); }
  Status Replace(const std::string& location, ByteView bytes) override { return below_->Replace(location, bytes); }
  Status Delete(const std::string& location) override { return below_->Delete(location); }
  Result<bool> Exists(const std::string& location) override { return below_->Exists(location); }
  Result<ListPage> List(const std::string& prefix, const std::string& page) override {
    return below_->List(prefix, page);
  }

 private:
  std::shared_ptr<MemoryFileIO> below_;
};

/// The first version of a table in a bucket.
std::shared_ptr<MemoryFileIO> Bucket() {
  auto io = std::make_shared<MemoryFileIO>();
  const std::string text =
      R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":"mem://b/wh/db/t",)"
      R"("last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[{"type":)"
      R"("struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
      R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
      R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{}})";
  io->Put("mem://b/wh/db/t/metadata/v1.metadata.json", Bytes(text.begin(), text.end()));
  return io;
}

TEST(HadoopInStoreTest, NoExclusiveCreation_ReadsButRefusesToWrite) {
  ManualClock clock{TimestampMs{5}};
  const auto bucket = Bucket();
  const FileIOFactory make_io = [&](const Properties&) -> Result<std::shared_ptr<FileIO>> {
    return std::shared_ptr<FileIO>(std::make_shared<LookingFileIO>(bucket));
  };
  const auto catalog = HadoopCatalog::Open("h", {{"warehouse", "mem://b/wh/"}}, make_io, clock).value();
  const auto table = catalog->LoadTable({{"db"}, "t"});
  ASSERT_TRUE(table) << ToString(table.error());
  const Status writable = catalog->CheckWritable(*table);
  ASSERT_FALSE(writable);
  EXPECT_EQ(writable.error().code, Code::kUnsupported);
  EXPECT_TRUE(dynamic_cast<const HadoopCatalog&>(*catalog).CheckUnmoved(*table)) << "the store is not asked";
  const auto committed = catalog->CommitTable(*table, {{}, {iceberg::SetProperties{{{"a", "1"}}}}});
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kUnsupported);
  EXPECT_EQ(bucket->file_count(), 1U);
}

TEST(HadoopInStoreTest, Tables_AreFoundByTheirVersions) {
  ManualClock clock{TimestampMs{5}};
  const auto bucket = Bucket();
  bucket->Put("mem://b/wh/a/b/u/metadata/v3.gz.metadata.json", {});
  bucket->Put("mem://b/wh/a/b/u/metadata/v4.gz.metadata.json", {});
  bucket->Put("mem://b/wh/top/metadata/v1.metadata.json", {});
  bucket->Put("mem://b/wh/metadata/v1.metadata.json", {});
  bucket->Put("mem://b/wh/db/managed/metadata/00001-x.metadata.json", {});
  const FileIOFactory make_io = [&](const Properties&) -> Result<std::shared_ptr<FileIO>> {
    return std::shared_ptr<FileIO>(bucket);
  };
  const auto catalog = HadoopCatalog::Open("h", {{"warehouse", "mem://b/wh"}}, make_io, clock).value();
  const auto tables = catalog->ListTables();
  ASSERT_TRUE(tables);
  std::vector<std::string> names;
  for (const TableIdentifier& id : *tables) names.push_back(ToString(id));
  EXPECT_THAT(names, testing::ElementsAre("a.b.u", "db.t", "mem://b/wh/top"));
}

TEST(HadoopInStoreTest, Commit_NoAnswerAndNothingThereYet_IsUnknown) {
  ManualClock clock{TimestampMs{5}};
  const auto bucket = Bucket();
  bool is_lost = false;
  const IoHook hook = [&](const IoEvent& event) -> Status {
    if (!is_lost || event.operation != IoOperation::kClose) return Ok();
    return Error{Code::kUnavailable, "sent, but no answer"};
  };
  const FileIOFactory make_io = [&](const Properties&) -> Result<std::shared_ptr<FileIO>> {
    return std::shared_ptr<FileIO>(std::make_shared<HookedFileIO>(bucket, hook));
  };
  const auto catalog = HadoopCatalog::Open("h", {}, make_io, clock).value();
  const TableIdentifier id{{}, "mem://b/wh/db/t"};
  const auto table = catalog->LoadTable(id).value();
  is_lost = true;
  const auto committed = catalog->CommitTable(table, {{}, {iceberg::SetProperties{{{"a", "1"}}}}});
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kOutcomeUnknown) << "the request may still be on its way";
  is_lost = false;
  ASSERT_TRUE(catalog->CommitTable(table, {{}, {iceberg::SetProperties{{{"a", "2"}}}}}));
  EXPECT_EQ(catalog->LoadTable(id)->metadata->Property("a", ""), "2");
}

}  // namespace
}  // namespace firn::ports
