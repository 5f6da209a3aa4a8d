// SPDX-License-Identifier: Apache-2.0
#include "ports/mapped_file_io.h"

#include <gtest/gtest.h>

#include "ports/memory_file_io.h"
#include "ports/routed_file_io.h"

namespace firn::ports {
namespace {

class MappedFileIOTest : public testing::Test {
 protected:
  void Put(const std::string& location) { memory_->Put(location, Bytes(location.begin(), location.end())); }
  MappedFileIO Mapped(std::vector<LocationRule> rules) { return MappedFileIO(memory_, std::move(rules)); }
  static std::string Read(FileIO& io, const std::string& location) {
    const auto bytes = ReadFile(io, location);
    return bytes ? std::string(AsText(*bytes)) : std::string(CodeName(bytes.error().code));
  }
  std::shared_ptr<MemoryFileIO> memory_ = std::make_shared<MemoryFileIO>();
};

TEST_F(MappedFileIOTest, Open_FirstMatchingRule_Wins) {
  for (const char* location : {"/new/t/f", "/other/f", "/old2/f", "/new"}) Put(location);
  auto io = Mapped({{"s3://b/wh/special", "/other"}, {"s3://b/wh", "/new/"}, {"s3://b/wh/t", "/never"}});
  EXPECT_EQ(Read(io, "s3://b/wh/t/f"), "/new/t/f");
  EXPECT_EQ(Read(io, "s3://b/wh/special/f"), "/other/f");
  EXPECT_EQ(Read(io, "s3://b/wh"), "/new");
  EXPECT_EQ(Read(io, "/old2/f"), "/old2/f") << "no rule: as it is";
  EXPECT_EQ(io.Open("s3://b/wh/t/f").value()->name(), "s3://b/wh/t/f");
}

TEST_F(MappedFileIOTest, Open_RuleMatchesWholeComponentsOnly) {
  Put("/new2/f");
  auto io = Mapped({{"/old", "/new"}});
  EXPECT_EQ(Read(io, "/old2/f"), Read(io, "/never"));
  EXPECT_FALSE(io.Exists("/old2/f").value());
}

TEST_F(MappedFileIOTest, List_AnswersInTheTermsOfThePrefix) {
  for (const char* location : {"/new/t/a", "/new/t/b/c", "/new/t2/x"}) Put(location);
  auto io = Mapped({{"hdfs://nn/wh", "/new"}});
  const auto listed = io.List("hdfs://nn/wh/t", "");
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->files.size(), 2U);
  EXPECT_EQ(listed->files[0].location, "hdfs://nn/wh/t/a");
  EXPECT_EQ(listed->files[1].location, "hdfs://nn/wh/t/b/c");
}

TEST_F(MappedFileIOTest, CheckCreate_SaysBeforeWhatCreateWouldSay) {
  auto io = Mapped({{"/old", "/new"}, {"s3a://b", "s3://b"}});
  EXPECT_EQ(io.CheckCreate("/old/f").error().code, Code::kUnsupported);
  EXPECT_TRUE(io.CheckCreate("/else/where"));
  EXPECT_TRUE(io.CheckCreate("s3a://b/f"));
}

TEST_F(MappedFileIOTest, Writing_ThroughARule_IsRefused) {
  Put("/new/f");
  auto io = Mapped({{"/old", "/new"}});
  EXPECT_EQ(io.Create("/old/g").error().code, Code::kUnsupported);
  const Status deleted = io.Delete("/old/f");
  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().code, Code::kUnsupported);
  EXPECT_NE(deleted.error().message.find("/old=/new"), std::string::npos);
  EXPECT_TRUE(memory_->Exists("/new/f").value());
  EXPECT_TRUE(WriteFile(io, "/else/where", AsBytes("x"))) << "locations without a rule are not touched by it";
}

TEST_F(MappedFileIOTest, Writing_ThroughANameOfTheSamePlace_Works) {
  auto io = Mapped({{"s3a://b", "s3://b"}});
  ASSERT_TRUE(WriteFile(io, "s3a://b/f", AsBytes("x")));
  EXPECT_TRUE(memory_->Exists("s3://b/f").value());
  EXPECT_TRUE(io.Delete("s3a://b/f"));
  EXPECT_FALSE(memory_->Exists("s3://b/f").value());
}

TEST(LocationRuleText, Forms) {
  const auto rule = ParseLocationRule("s3://b/a=c=/x=y");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->from, "s3://b/a");
  EXPECT_EQ(rule->to, "c=/x=y");
  for (const char* text : {"", "=", "/a", "/a=", "=/b"}) {
    EXPECT_EQ(ParseLocationRule(text).error().code, Code::kInvalidArgument) << text;
  }
}

TEST(RoutedFileIOTest, UnknownScheme_IsRefusedByName) {
  RoutedFileIO io({});
  for (const char* location : {"oss://b/k", "swift://c@a/k", "hdfs://nn/k", "http://h/k"}) {
    const auto opened = io.Open(location);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kUnsupported);
    EXPECT_NE(opened.error().message.find(std::string(location).substr(0, std::string(location).find(':'))),
              std::string::npos);
    EXPECT_EQ(io.Create(location).error().code, Code::kUnsupported);
    EXPECT_EQ(io.Delete(location).error().code, Code::kUnsupported);
    EXPECT_EQ(io.Exists(location).error().code, Code::kUnsupported);
    EXPECT_EQ(io.List(location, "").error().code, Code::kUnsupported);
  }
}

TEST(RoutedFileIOTest, S3Properties_ThatCannotWork_AreErrorsByName) {
  const std::pair<Properties, std::string> cases[] = {
      {{{"s3.access-key-id", "x"}}, "s3.secret-access-key"},
      {{{"s3.remote-signing-enabled", "true"}}, "s3.remote-signing-enabled"},
      {{{"s3.sse.type", "kms"}}, "s3.sse.type"},
      {{{"s3.endpoint", "ftp://x"}}, "s3.endpoint"},
      {{{"s3.path-style-access", "perhaps"}}, "s3.path-style-access"},
  };
  for (const auto& [properties, key] : cases) {
    RoutedFileIO io(properties);
    const auto opened = io.Open("s3://b/k");
    ASSERT_FALSE(opened) << key;
    EXPECT_NE(opened.error().message.find(key), std::string::npos) << opened.error().message;
  }
  RoutedFileIO io({{"s3.endpoint", "http://127.0.0.1:9"}, {"s3.anonymous", "true"}});
  EXPECT_EQ(io.Open("s3://b/a//k", 4).error().code, Code::kUnsupported);
  EXPECT_EQ(io.Open("s3://bucket", 4).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace firn::ports
