// SPDX-License-Identifier: Apache-2.0
#include "ports/hive_catalog.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <thread>

#include "ports/memory_file_io.h"
#include "ports/metadata_file.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;
using thrift::Type;
using thrift::Value;

const TableIdentifier kId{{"db"}, "t"};
const std::string kOld = "file:/t/metadata/00000-00000000-0000-4000-8000-000000000001.metadata.json";
const std::string kOther = "file:/t/metadata/00001-00000000-0000-4000-8000-000000000002.metadata.json";

/// What a client sends, with its calls made to look like replies, which can be read.
class CallSource final : public SequentialSource {
 public:
  explicit CallSource(int socket) : socket_(socket) {}
  const std::string& name() const override { return name_; }
  Result<std::size_t> Read(std::span<std::uint8_t> out) override {
    const ssize_t count = ::recv(socket_, out.data(), out.size(), 0);
    if (count <= 0) return Error{Code::kUnavailable, "closed"};
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, ++at_) {
      if (at_ == 3) out[i] = 2;
    }
    return static_cast<std::size_t>(count);
  }

 private:
  int socket_;
  std::size_t at_ = 0;
  std::string name_ = "client";
};

/// A metastore of which a function gives the answers; none: it hangs.
class HiveServer {
 public:
  using Handler = std::function<std::optional<Value>(const std::string& method, const Value& arguments)>;

  explicit HiveServer(Handler handler)
      : handler_(std::move(handler)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    uri_ = "thrift://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    accepts_ = std::jthread([this] { Accept(); });
  }
  ~HiveServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    accepts_.join();
    for (const FileDescriptor& client : clients_) ::shutdown(client.get(), SHUT_RDWR);
  }
  HiveServer(const HiveServer&) = delete;
  HiveServer& operator=(const HiveServer&) = delete;

  const std::string& uri() const { return uri_; }
  /// Calls of one method so far.
  int count(const std::string& method) {
    const std::lock_guard lock(mutex_);
    return counts_[method];
  }

 private:
  void Accept() {
    while (true) {
      FileDescriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.valid()) return;
      clients_.push_back(std::move(client));
      threads_.emplace_back([this, socket = clients_.back().get()] { Serve(socket); });
    }
  }

  void Serve(int socket) {
    while (true) {
      CallSource source(socket);
      const auto call = thrift::DecodeReply(source, {});
      if (!call) return;
      std::optional<Value> answer;
      {
        const std::lock_guard lock(mutex_);
        ++counts_[call->method];
        answer = handler_(call->method, call->result);
      }
      if (!answer) continue;
      Bytes bytes = thrift::EncodeCall(call->method, call->sequence, *answer);
      bytes[3] = 2;  // a reply
      (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
  }

  Handler handler_;
  FileDescriptor listener_;
  std::string uri_;
  std::mutex mutex_;
  std::map<std::string, int> counts_;
  std::list<FileDescriptor> clients_;
  std::list<std::jthread> threads_;
  std::jthread accepts_;
};

Value Returned(Value value) { return Value::Struct({{0, std::move(value)}}); }
Value Thrown(std::int16_t id, std::string_view text) {
  return Value::Struct({{id, Value::Struct({{1, Value::Text(text)}})}});
}

iceberg::TableMetadata OldMetadata() {
  auto metadata = iceberg::TableMetadata::Parse(
      AsBytes(R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":"file:/t",)"
              R"("last-sequence-number":0,"last-updated-ms":1700000000000,"last-column-id":1,"current-schema-id":0,)"
              R"("schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,)"
              R"("type":"long"}]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],)"
              R"("last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}]})"));
  return std::move(*metadata);
}

/// One table in a metastore whose answers can be changed.
class HiveCatalogTest : public testing::Test {
 protected:
  HiveCatalogTest() { Put(kOld, OldMetadata()); }

  void Put(const std::string& location, const iceberg::TableMetadata& metadata) {
    io_->Put(location, *EncodeMetadata(metadata, *CodecOf(metadata)));
  }
  /// Somebody's commit on what is at `from`.
  void CommitOther(const std::string& from) {
    const auto base = ReadMetadataFile(*io_, from);
    Put(kOther, *iceberg::ApplyUpdates(**base, from, {iceberg::SetProperties{{{"other", "1"}}}}, clock_.Now()));
    location_ = kOther;
  }

  std::optional<Value> Answer(const std::string& method, const Value& arguments) {
    if (const auto own = answers_.find(method); own != answers_.end()) return own->second(arguments);
    if (method == "getVersion") return Returned(Value::Text(version_));
    if (method == "get_table_req") return Returned(Value::Struct({{1, Entry()}}));
    if (method == "lock" || method == "check_lock") return Returned(Ticket());
    if (method == "alter_table_with_environment_context") {
      location_ = LocationIn(arguments);
    }
    return Value{};
  }
  Value Entry() const {
    Value parameters = Value::TextMap();
    parameters.SetKey("table_type", "ICEBERG");
    parameters.SetKey("metadata_location", location_);
    return Value::Struct({{1, Value::Text("t")}, {2, Value::Text("db")}, {9, std::move(parameters)}});
  }
  static Value Ticket() { return Value::Struct({{1, Value::I64(7)}, {2, Value::I32(1)}}); }
  static std::string LocationIn(const Value& alter) {
    return *alter.Find(3, Type::kStruct)->Find(9, Type::kMap)->FindKey("metadata_location");
  }
  static Value Modified() {
    return Thrown(2, "The table has been modified. The parameter value for key 'metadata_location' is 'x'.");
  }

  /// The next reads of the entry fail.
  void BlindReads(int count) {
    answers_["get_table_req"] = [this, count](const Value&) mutable {
      return count-- > 0 ? Thrown(1, "not now") : Returned(Value::Struct({{1, Entry()}}));
    };
  }

  static Value Refused() { return Thrown(1, "Unable to alter table"); }

  std::shared_ptr<Catalog> Open(bool has_locks = true, const std::atomic<bool>* stop = nullptr) {
    const auto make_io = [this](const Properties&) -> Result<std::shared_ptr<FileIO>> { return io_; };
    return *HiveCatalog::Open(
        "lake", {{"uri", server_.uri()}, {"iceberg.engine.hive.lock-enabled", has_locks ? "true" : "false"}}, make_io,
        clock_, ++seed_, stop);
  }
  Result<LoadedTable> Commit(Catalog& catalog) {
    FIRN_ASSIGN(const LoadedTable base, catalog.LoadTable(kId));
    return catalog.CommitTable(base, {.requirements = {}, .updates = {iceberg::SetProperties{{{"ours", "1"}}}}});
  }

  ManualClock clock_{TimestampMs{1'800'000'000'000}};
  std::shared_ptr<MemoryFileIO> io_ = std::make_shared<MemoryFileIO>();
  std::uint64_t seed_ = 0;
  int asked_ = 0;
  std::string location_ = kOld, version_ = "4.0.1";
  std::map<std::string, std::function<std::optional<Value>(const Value&)>> answers_;
  HiveServer server_{[this](const std::string& method, const Value& arguments) { return Answer(method, arguments); }};
};

TEST_F(HiveCatalogTest, Alter_RepeatedByTheServer_IsOursAndKeepsTheFile) {
  for (const bool has_locks : {true, false}) {
    location_ = kOld;
    answers_["alter_table_with_environment_context"] = [this](const Value& arguments) {
      location_ = LocationIn(arguments);
      return Modified();
    };
    const auto catalog = Open(has_locks);
    const auto done = Commit(*catalog);
    ASSERT_TRUE(done) << ToString(done.error());
    EXPECT_EQ(done->metadata_location, location_);
    EXPECT_TRUE(catalog->LoadTable(kId));
  }
}

TEST_F(HiveCatalogTest, Alter_RepeatedByTheServerAndOthersOnTop_IsOurs) {
  for (const Value& answer : {Modified(), Refused()}) {
    location_ = kOld;
    std::string ours;
    answers_["alter_table_with_environment_context"] = [&](const Value& arguments) {
      ours = LocationIn(arguments);
      CommitOther(ours);
      return answer;
    };
    const auto done = Commit(*Open());
    ASSERT_TRUE(done) << ToString(done.error());
    EXPECT_EQ(done->metadata_location, ours);
    EXPECT_TRUE(*io_->Exists(ours));
  }
}

TEST_F(HiveCatalogTest, Alter_OthersCameFirst_IsAConflictAndLeavesNoFile) {
  for (const char* version : {"4.0.1", "3.0"}) {  // HIVE-26882 was ported back to some
    for (const Value& answer : {Modified(), Refused()}) {
      version_ = version;
      location_ = kOld;
      answers_["alter_table_with_environment_context"] = [&](const Value&) {
        CommitOther(kOld);
        return answer;
      };
      const auto done = Commit(*Open());
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, Code::kConflict) << done.error().message;
      EXPECT_EQ(io_->file_count(), 2U);
    }
  }
}

TEST_F(HiveCatalogTest, Alter_ModifiedAndNobodyCanRead_IsUnknownAndKeepsTheFile) {
  answers_["alter_table_with_environment_context"] = [this](const Value& arguments) {
    location_ = LocationIn(arguments);
    answers_["get_table_req"] = [](const Value&) { return Thrown(1, "the database is gone"); };
    return Modified();
  };
  const auto done = Commit(*Open());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kOutcomeUnknown) << done.error().message;
  EXPECT_THAT(done.error().message, HasSubstr("has been modified"));
  EXPECT_TRUE(*io_->Exists(location_));
}

TEST_F(HiveCatalogTest, Alter_RefusedAfterItWasDone_IsOursWhenTheTableCanBeRead) {
  for (const bool has_locks : {true, false}) {
    for (const int blind_reads : {0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << "locks " << has_locks << ", reads that fail " << blind_reads);
      location_ = kOld;
      answers_.erase("get_table_req");
      answers_["alter_table_with_environment_context"] = [&](const Value& arguments) {
        location_ = LocationIn(arguments);
        BlindReads(blind_reads);
        return Refused();
      };
      const auto catalog = Open(has_locks);
      const auto done = Commit(*catalog);
      ASSERT_TRUE(done) << ToString(done.error());
      EXPECT_EQ(done->metadata_location, location_);
      EXPECT_TRUE(catalog->LoadTable(kId));
    }
  }
}

TEST_F(HiveCatalogTest, Alter_RefusedAfterItWasDoneAndNobodyCanRead_IsUnknownAndKeepsTheFile) {
  // Renamed meanwhile, a table is not found, and names the file all the same.
  for (const std::int16_t fault : {std::int16_t{1}, std::int16_t{2}}) {
    location_ = kOld;
    answers_.erase("get_table_req");
    answers_["alter_table_with_environment_context"] = [&](const Value& arguments) {
      location_ = LocationIn(arguments);
      answers_["get_table_req"] = [fault](const Value&) { return Thrown(fault, "not now"); };
      return Refused();
    };
    const auto done = Commit(*Open());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kOutcomeUnknown) << done.error().message;
    EXPECT_THAT(done.error().message, HasSubstr("Unable to alter table"));
    EXPECT_THAT(done.error().message, HasSubstr("not now"));
    EXPECT_TRUE(*io_->Exists(location_));
  }
}

TEST_F(HiveCatalogTest, Alter_Refused_SaysWhyAndLeavesNoFile) {
  answers_["alter_table_with_environment_context"] = [](const Value&) { return Refused(); };
  const auto done = Commit(*Open());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kInvalidArgument) << done.error().message;
  EXPECT_EQ(io_->file_count(), 1U);
}

TEST_F(HiveCatalogTest, SwapsNames_OnlyWhereTheServerLooksAtTheCondition) {
  EXPECT_TRUE(Open()->SwapsNames());
  version_ = "3.0";  // a change that hangs may come after the lock has ended
  EXPECT_FALSE(Open()->SwapsNames());
  answers_["getVersion"] = [](const Value&) { return Value{}; };
  EXPECT_FALSE(Open()->SwapsNames());
}

TEST_F(HiveCatalogTest, Stop_WhileTheServerHangs_EndsReadsSoon) {
  std::atomic<bool> stop = false;
  answers_["get_table_req"] = [&](const Value&) {
    stop = true;
    return std::nullopt;
  };
  const auto begun = std::chrono::steady_clock::now();
  const auto loaded = Open(true, &stop)->LoadTable(kId);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Code::kUnavailable) << loaded.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

TEST_F(HiveCatalogTest, Stop_AfterACommitWasSent_WaitsForItsAnswer) {
  std::atomic<bool> stop = false;
  answers_["alter_table_with_environment_context"] = [&](const Value& arguments) {
    stop = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // longer than reads are waited for
    location_ = LocationIn(arguments);
    return Value{};
  };
  const auto done = Commit(*Open(true, &stop));
  ASSERT_TRUE(done) << ToString(done.error());
  EXPECT_EQ(server_.count("unlock"), 1);
}

TEST_F(HiveCatalogTest, ListTables_AnswersThatAreTooLarge_AreAskedForInParts) {
  std::vector<Value> names(80, Value::Text("t"));
  answers_["get_all_databases"] = [](const Value&) {
    return Returned(Value::List(Type::kString, {Value::Text("db")}));
  };
  answers_["get_all_tables"] = [&](const Value&) { return Returned(Value::List(Type::kString, names)); };
  answers_["get_table_objects_by_name_req"] = [this](const Value& arguments) {
    Value entry = Entry();
    entry.fields.push_back({99, Value::Text(std::string(1 << 20, 'x'))});
    const std::size_t count = arguments.Find(1, Type::kStruct)->Find(2, Type::kList)->elements.size();
    return Returned(Value::Struct({{1, Value::List(Type::kStruct, std::vector<Value>(count, entry))}}));
  };
  const auto listed = Open()->ListTables();
  ASSERT_TRUE(listed) << ToString(listed.error());
  EXPECT_EQ(listed->size(), names.size());
}

TEST_F(HiveCatalogTest, Lock_WhoseAnswerIsLostAndThatShowsLate_IsFoundAndReleased) {
  std::string agent;
  answers_["lock"] = [&](const Value& arguments) {
    agent = arguments.Find(1, Type::kStruct)->TextOf(5);
    return Value{};
  };
  answers_["show_locks"] = [&](const Value&) {
    Value lock = Value::Struct({{1, Value::I64(7)}, {5, Value::I32(1)}, {13, Value::Text(agent)}});
    std::vector<Value> locks;
    if (++asked_ > 2) locks.push_back(std::move(lock));
    return Returned(Value::Struct({{1, Value::List(Type::kStruct, std::move(locks))}}));
  };
  const auto done = Commit(*Open());
  ASSERT_TRUE(done) << ToString(done.error());
  EXPECT_EQ(server_.count("unlock"), 1);
}

}  // namespace
}  // namespace firn::ports
