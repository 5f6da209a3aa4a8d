// SPDX-License-Identifier: Apache-2.0
#include "ports/io_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ports/hooked_file_io.h"
#include "ports/memory_catalog.h"
#include "ports/memory_file_io.h"

namespace firn::ports {
namespace {

using ::testing::ElementsAre;

class FaultInjectorTest : public testing::Test {
 protected:
  FaultInjector injector_;
  std::shared_ptr<MemoryFileIO> memory_ = std::make_shared<MemoryFileIO>();
  std::shared_ptr<HookedFileIO> io_ = std::make_shared<HookedFileIO>(memory_, injector_.hook());
};

TEST_F(FaultInjectorTest, Trace_NamesEveryCall) {
  ASSERT_TRUE(WriteFile(*io_, "/a", AsBytes("x")));
  ASSERT_TRUE(ReadFile(*io_, "/a"));
  ASSERT_TRUE(io_->Exists("/a"));
  ASSERT_TRUE(io_->List("/", ""));
  ASSERT_TRUE(io_->Delete("/a"));
  EXPECT_EQ(injector_.call_count(), 8);
  EXPECT_THAT(injector_.trace(), ElementsAre("create /a", "write /a", "close /a", "open /a", "read /a", "exists /a",
                                             "list /", "delete /a"));
}

TEST_F(FaultInjectorTest, FailAt_DoesNothingOnce) {
  injector_.FailAt(3, Code::kLimit);
  const Status failed = WriteFile(*io_, "/a", AsBytes("x"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kLimit);
  EXPECT_EQ(memory_->file_count(), 0U);
  EXPECT_TRUE(WriteFile(*io_, "/a", AsBytes("x")));
}

TEST_F(FaultInjectorTest, LoseReplyAt_DoesItAndSaysOtherwise) {
  injector_.LoseReplyAt(3);
  const Status lost = WriteFile(*io_, "/a", AsBytes("x"));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::kUnavailable);
  EXPECT_EQ(memory_->file_count(), 1U);
}

TEST_F(FaultInjectorTest, CrashAt_EverythingAfterFails) {
  for (const bool done : {false, true}) {
    injector_.Reset();
    injector_.CrashAt(3, done);
    const std::string name = done ? "/done" : "/not";
    EXPECT_FALSE(WriteFile(*io_, name, AsBytes("x")));
    EXPECT_EQ(memory_->Exists(name).value(), done);
    EXPECT_FALSE(io_->Exists(name));
    EXPECT_FALSE(io_->Delete(name));
    EXPECT_EQ(memory_->Exists(name).value(), done) << "a dead process deletes nothing";
  }
  injector_.Reset();
  EXPECT_TRUE(io_->Exists("/done").value());
}

class CommitFaultTest : public FaultInjectorTest {
 protected:
  CommitFaultTest() {
    catalog_.set_hook(injector_.hook());
    const std::string text =
        R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":"/t",)"
        R"("last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[)"
        R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
        R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
        R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[],"properties":{}})";
    EXPECT_TRUE(catalog_.Create(id_, iceberg::TableMetadata::Parse(AsBytes(text)).value()));
    injector_.Reset();
  }
  bool IsApplied() { return Load().metadata->Property("a", "") == "1"; }
  LoadedTable Load() {
    injector_.Reset();
    return catalog_.LoadTable(id_).value();
  }
  Result<LoadedTable> Commit(const LoadedTable& base) {
    return catalog_.CommitTable(base, {{}, {iceberg::SetProperties{{{"a", "1"}}}}});
  }

  const TableIdentifier id_{{"db"}, "t"};
  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  MemoryCatalog catalog_{"memory", io_, clock_};
};

TEST_F(CommitFaultTest, Commit_FaultAtEachCall_SaysWhatHappened) {
  const LoadedTable first = Load();
  injector_.Reset();
  ASSERT_TRUE(Commit(first));
  const auto calls = injector_.trace();
  ASSERT_THAT(calls, ElementsAre(testing::StartsWith("create"), testing::StartsWith("write"),
                                 testing::StartsWith("close"), "commit-table db.t"));
  for (std::int64_t n = 1; n <= 4; ++n) {
    for (const bool lost : {false, true}) {
      ASSERT_TRUE(catalog_.CommitTable(Load(), {{}, {iceberg::RemoveProperties{{"a"}}}}));
      const std::size_t files = memory_->file_count();
      const LoadedTable base = Load();
      injector_.Reset();
      lost ? injector_.LoseReplyAt(n) : injector_.FailAt(n);
      const auto committed = Commit(base);
      ASSERT_FALSE(committed);
      const bool applied = lost && n == 4;
      EXPECT_EQ(committed.error().code, applied ? Code::kOutcomeUnknown : Code::kUnavailable) << n << lost;
      EXPECT_EQ(memory_->file_count(), files + (applied ? 1 : 0)) << "only an unknown outcome keeps the file";
      EXPECT_EQ(IsApplied(), applied);
    }
  }
}

TEST_F(CommitFaultTest, Commit_CrashAtEachCall_LeavesAReadableTable) {
  for (std::int64_t n = 1; n <= 4; ++n) {
    for (const bool done : {false, true}) {
      ASSERT_TRUE(catalog_.CommitTable(Load(), {{}, {iceberg::RemoveProperties{{"a"}}}}));
      const LoadedTable base = Load();
      injector_.Reset();
      injector_.CrashAt(n, done);
      EXPECT_FALSE(Commit(base));
      EXPECT_EQ(IsApplied(), done && n == 4) << n << done;
      EXPECT_TRUE(Commit(Load())) << "the next run works";
    }
  }
}

}  // namespace
}  // namespace firn::ports
