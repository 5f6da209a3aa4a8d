// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_ranges.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/random.h"
#include "base/range_copies.h"
#include "ports/memory_file_io.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

/// What the store does with a copy.
enum class Copying { kWorks, kErrorInBody, kNotImplemented, kDenied, kIgnoresConditions, kBusyOnce };

/// S3's multipart uploads behind MemoryHttp; the objects are those of a MemoryFileIO, their tags its versions.
class S3RangesTest : public testing::Test {
 protected:
  S3RangesTest() {
    http_ = std::make_shared<MemoryHttp>([this](const HttpRequest& request) { return Answer(request); });
    const S3Endpoint endpoint{.scheme = "http", .host = "s3", .by_host = false, .region = "r", .keys = {}};
    auto below = std::make_unique<MemoryFileIO>();
    objects_ = below.get();
    io_ = MakeS3RangesFileIO(std::move(below), std::make_shared<S3Requests>(http_, endpoint, clock_));
  }

  static HttpResponse Xml(int status, std::string body) { return {.status = status, .headers = {}, .body = body}; }
  static HttpResponse ErrorOf(int status, const std::string& code) {
    return Xml(status, fmt::format("<?xml?><Error><Code>{}</Code><Message>so it is</Message></Error>", code));
  }

  Result<HttpResponse> Answer(const HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    const std::size_t question = std::min(request.url.find('?'), request.url.size());
    const std::string location = "s3:/" + UrlDecode(request.url.substr(9, question - 9));
    const std::string query = request.url.substr(question);
    if (request.method == "HEAD") return HeadOf(location);
    if (query == "?uploads=") return Xml(200, "<R><UploadId>the+id</UploadId></R>");
    if (query.find("uploadId=the%2Bid") == std::string::npos) return ErrorOf(404, "NoSuchUpload");
    if (request.method == "DELETE") {
      ++aborts_;
      parts_.clear();
      return Xml(204, "");
    }
    if (request.method == "POST") return Complete(location, request.body);
    const int number = std::stoi(query.substr(query.find("partNumber=") + 11));
    const std::string* source = Header(request, "x-amz-copy-source");
    if (source != nullptr) return CopyPart(request, number, "s3://" + UrlDecode(*source));
    if (fails_part_ == number) return ErrorOf(503, "SlowDown");
    parts_[number] = request.body;
    return HttpResponse{.status = 200, .headers = {{"etag", TagOf(number)}}, .body = ""};
  }

  static const std::string* Header(const HttpRequest& request, std::string_view name) {
    for (const auto& [key, value] : request.headers) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  static std::string TagOf(int number) { return fmt::format("\"part-{}\"", number); }

  HttpResponse HeadOf(const std::string& location) {
    const auto source = objects_->Open(location);
    if (!source) return Xml(404, "");
    return {.status = 200,
            .headers = {{"etag", tags_.contains(location) ? tags_[location] : "\"first\""},
                        {"content-length", std::to_string((*source)->size())}},
            .body = ""};
  }

  HttpResponse CopyPart(const HttpRequest& request, int number, const std::string& source) {
    ++copies_;
    if (copying_ == Copying::kNotImplemented) return ErrorOf(501, "NotImplemented");
    if (copying_ == Copying::kDenied) return ErrorOf(403, "AccessDenied");
    if (copying_ == Copying::kErrorInBody) return ErrorOf(200, "InternalError");
    if (copying_ == Copying::kBusyOnce && copies_ == 1) return ErrorOf(200, "SlowDown");
    const auto bytes = ReadFile(*objects_, source);
    if (!bytes) return ErrorOf(404, "NoSuchKey");
    const std::string now = tags_.contains(source) ? tags_[source] : "\"first\"";
    const std::string* condition = Header(request, "x-amz-copy-source-if-match");
    if (copying_ != Copying::kIgnoresConditions && (condition == nullptr || *condition != now)) {
      return ErrorOf(412, "PreconditionFailed");
    }
    std::uint64_t from = 0, to = 0;
    EXPECT_EQ(std::sscanf(Header(request, "x-amz-copy-source-range")->c_str(), "bytes=%lu-%lu", &from, &to), 2);
    EXPECT_LT(to, bytes->size());
    EXPECT_LE(to - from + 1, std::uint64_t{5} << 30);
    parts_[number] = std::string(AsText(*bytes).substr(from, to - from + 1));
    return Xml(200, fmt::format("<CopyPartResult><ETag>&quot;part-{}&quot;</ETag></CopyPartResult>", number));
  }

  /// As S3 does: parts in order, all but the last of 5 MiB.
  HttpResponse Complete(const std::string& location, const std::string& body) {
    ++completes_;
    if (completes_ == 1 && loses_complete_ == 1) return ErrorOf(503, "SlowDown");
    if (parts_.empty()) return ErrorOf(404, "NoSuchUpload");
    std::string bytes;
    for (const auto& [number, part] : parts_) {
      EXPECT_THAT(body, HasSubstr(fmt::format("<PartNumber>{}</PartNumber><ETag>{}</ETag>", number, TagOf(number))));
      if (number != parts_.rbegin()->first) {
        EXPECT_GE(part.size(), 5 * kMiB) << number;
      }
      part_sizes_.push_back(part.size());
      bytes += part;
    }
    objects_->Put(location, Bytes(bytes.begin(), bytes.end()));
    parts_.clear();
    if (completes_ == 1 && loses_complete_ == 2) return ErrorOf(500, "InternalError");
    return Xml(200, "<CompleteMultipartUploadResult><ETag>&quot;x&quot;</ETag></CompleteMultipartUploadResult>");
  }

  Bytes Some(std::uint64_t size, std::uint64_t seed) {
    Random random(seed);
    Bytes bytes(static_cast<std::size_t>(size));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.Next());
    return bytes;
  }
  void PutSource(std::uint64_t size, const std::string& location = "s3://b/in file") {
    source_bytes_ = Some(size, 1);
    objects_->Put(location, source_bytes_);
  }

  struct Writing {
    std::unique_ptr<OutputFile> file;
    RangeCopies* copies = nullptr;
    std::unique_ptr<RandomAccessSource> source;
    std::optional<FileMark> mark;
    Bytes expected;
  };
  Writing Begin() {
    Writing writing;
    writing.file = io_->Create("s3://b/out").value();
    writing.copies = writing.file->range_copies();
    EXPECT_NE(writing.copies, nullptr);
    writing.source = io_->Open("s3://b/in file").value();
    if (writing.copies != nullptr) writing.mark = writing.copies->Mark("s3://b/in file", writing.source->size());
    EXPECT_TRUE(writing.mark);
    return writing;
  }
  Status Write(Writing& writing, const Bytes& bytes) {
    writing.expected.insert(writing.expected.end(), bytes.begin(), bytes.end());
    return writing.file->Write(bytes);
  }
  Status Copy(Writing& writing, std::uint64_t offset, std::uint64_t size) {
    const auto begin = source_bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    writing.expected.insert(writing.expected.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    return writing.copies->Append(*writing.source, *writing.mark, offset, size);
  }
  void ExpectWritten(const Writing& writing) {
    EXPECT_EQ(writing.file->position(), writing.expected.size());
    const auto written = ReadFile(*objects_, "s3://b/out");
    ASSERT_TRUE(written);
    EXPECT_TRUE(*written == writing.expected);
    EXPECT_EQ(aborts_, 0);
  }

  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::shared_ptr<MemoryHttp> http_;
  MemoryFileIO* objects_ = nullptr;
  std::unique_ptr<FileIO> io_;
  std::mutex mutex_;
  std::map<std::string, std::string> tags_;  // other than "first"
  std::map<int, std::string> parts_;
  std::vector<std::uint64_t> part_sizes_;
  Copying copying_ = Copying::kWorks;
  int copies_ = 0, aborts_ = 0, completes_ = 0, fails_part_ = 0;
  int loses_complete_ = 0;  // the first time: 1 before, 2 after its effect
  Bytes source_bytes_;
};

TEST_F(S3RangesTest, NotAsked_IsWrittenAsBelow) {
  ASSERT_TRUE(WriteFile(*io_, "s3://b/plain", Some(20 * kMiB, 2)));
  EXPECT_TRUE(http_->requests().empty());
}

TEST_F(S3RangesTest, SmallFile_IsWrittenAsBelow) {
  auto file = io_->Create("s3://b/small").value();
  ASSERT_NE(file->range_copies(), nullptr);
  ASSERT_TRUE(file->Write(AsBytes("abc")));
  ASSERT_TRUE(file->Close());
  EXPECT_TRUE(http_->requests().empty());
  EXPECT_EQ(AsText(ReadFile(*io_, "s3://b/small").value()), "abc");
}

TEST_F(S3RangesTest, RunBehindAFewBytes_OnlyItsStartIsRead) {
  PutSource(60 * kMiB);
  Writing writing = Begin();
  ASSERT_TRUE(Write(writing, Some(4, 3)));
  // Pages that follow each other are one run.
  for (std::uint64_t at = 100; at < 50 * kMiB; at += kMiB) ASSERT_TRUE(Copy(writing, at, kMiB));
  ASSERT_TRUE(Write(writing, Some(700'000, 4)));
  ASSERT_TRUE(writing.file->Close());
  ExpectWritten(writing);
  EXPECT_EQ(writing.copies->copied().size_bytes, 50 * kMiB - (5 * kMiB - 4));
  EXPECT_EQ(writing.copies->copied().refusal, "");
  EXPECT_EQ(part_sizes_.size(), 4U);  // what was read, the first copy, the rest of it, the tail
}

TEST_F(S3RangesTest, RunsOfEveryLengthBetweenBytesOfEveryLength_StayInOrder) {
  PutSource(40 * kMiB);
  Random random(11);
  for (int round = 0; round < 6; ++round) {
    ASSERT_TRUE(objects_->Delete("s3://b/out"));
    part_sizes_.clear();
    Writing writing = Begin();
    for (int i = 0; i < 8; ++i) {
      ASSERT_TRUE(Write(writing, Some(random.Below(round % 2 == 0 ? 9 * kMiB : 5000), random.Next())));
      const std::uint64_t size = 1 + random.Below(24 * kMiB);
      ASSERT_TRUE(Copy(writing, random.Below(40 * kMiB - size), size));
    }
    ASSERT_TRUE(writing.file->Close());
    ExpectWritten(writing);
    EXPECT_GT(writing.copies->copied().size_bytes, 0U);
  }
}

TEST_F(S3RangesTest, VeryLongRun_IsSeveralParts) {
  PutSource(300 * kMiB);
  Writing writing = Begin();
  ASSERT_TRUE(Copy(writing, 0, 300 * kMiB));
  ASSERT_TRUE(writing.file->Close());
  ExpectWritten(writing);
  EXPECT_EQ(writing.copies->copied().size_bytes, 300 * kMiB);
  EXPECT_EQ(part_sizes_.size(), 4U);
}

TEST_F(S3RangesTest, ChangedSource_IsRefused) {
  PutSource(30 * kMiB);
  for (const Copying copying : {Copying::kWorks, Copying::kIgnoresConditions}) {
    copying_ = copying;
    tags_.clear();
    Writing writing = Begin();
    ASSERT_TRUE(Copy(writing, 0, 20 * kMiB));
    tags_["s3://b/in file"] = "\"second\"";
    const Status closed = writing.file->Close();
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code, Code::kCorrupt);
    EXPECT_THAT(closed.error().message, HasSubstr("s3://b/in file: has changed while it was read"));
    EXPECT_FALSE(objects_->Exists("s3://b/out").value());
  }
  EXPECT_EQ(aborts_, 2);
}

TEST_F(S3RangesTest, ErrorInTheBodyOfAnAnswerOf200_IsAnError) {
  PutSource(30 * kMiB);
  copying_ = Copying::kErrorInBody;
  Writing writing = Begin();
  ASSERT_TRUE(Copy(writing, 0, 20 * kMiB));
  const Status closed = writing.file->Close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Code::kUnavailable);
  EXPECT_THAT(closed.error().message, HasSubstr("InternalError"));
  EXPECT_GT(copies_, 1) << "it is tried again";
  EXPECT_EQ(aborts_, 1);
}

TEST_F(S3RangesTest, BusyServer_IsAskedAgain) {
  PutSource(30 * kMiB);
  copying_ = Copying::kBusyOnce;
  Writing writing = Begin();
  ASSERT_TRUE(Copy(writing, 5, 12 * kMiB));
  ASSERT_TRUE(writing.file->Close());
  ExpectWritten(writing);
  EXPECT_EQ(writing.copies->copied().size_bytes, 12 * kMiB);
}

TEST_F(S3RangesTest, StoreThatDoesNotCopy_IsAskedOnceAndTheBytesAreWritten) {
  PutSource(30 * kMiB);
  copying_ = Copying::kNotImplemented;
  Writing writing = Begin();
  ASSERT_TRUE(Write(writing, Some(100, 5)));
  ASSERT_TRUE(Copy(writing, 7, 20 * kMiB));
  ASSERT_TRUE(Write(writing, Some(3, 6)));
  ASSERT_TRUE(Copy(writing, 9, 20 * kMiB));
  ASSERT_TRUE(writing.file->Close());
  ExpectWritten(writing);
  EXPECT_EQ(copies_, 1);
  EXPECT_EQ(writing.copies->copied().size_bytes, 0U);
  EXPECT_THAT(writing.copies->copied().refusal, HasSubstr("501 NotImplemented"));
  EXPECT_EQ(io_->Create("s3://b/other").value()->range_copies(), nullptr);
}

TEST_F(S3RangesTest, DeniedCopy_IsReadAndWritten) {
  PutSource(30 * kMiB);
  copying_ = Copying::kDenied;
  Writing writing = Begin();
  ASSERT_TRUE(Copy(writing, 7, 20 * kMiB));
  ASSERT_TRUE(writing.file->Close());
  ExpectWritten(writing);
  EXPECT_THAT(writing.copies->copied().refusal, HasSubstr("AccessDenied"));
  EXPECT_NE(io_->Create("s3://b/other").value()->range_copies(), nullptr) << "another object may be allowed";
}

TEST_F(S3RangesTest, LostAnswerToTheEnd_IsSettledByLooking) {
  PutSource(30 * kMiB);
  for (const int loses : {1, 2}) {
    ASSERT_TRUE(objects_->Delete("s3://b/out"));
    loses_complete_ = loses;
    completes_ = 0;
    Writing writing = Begin();
    ASSERT_TRUE(Copy(writing, 0, 20 * kMiB));
    const Status closed = writing.file->Close();
    ASSERT_TRUE(closed) << ToString(closed.error());
    EXPECT_EQ(std::exchange(aborts_, 0), loses - 1) << "nothing of an unknown end may come later";
    ExpectWritten(writing);
    EXPECT_EQ(completes_, 2);
  }
}

TEST_F(S3RangesTest, PartThatFails_EndsTheUpload) {
  PutSource(30 * kMiB);
  fails_part_ = 2;
  Writing writing = Begin();
  Status written = Ok();
  for (int i = 0; i < 10 && written; ++i) written = Write(writing, Some(8 * kMiB, 8));
  if (written) written = writing.file->Close();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kUnavailable);
  writing.file.reset();
  EXPECT_EQ(aborts_, 1);
  EXPECT_FALSE(objects_->Exists("s3://b/out").value());
}

TEST_F(S3RangesTest, Mark_OnlyWhatIsThereInThatSize) {
  PutSource(kMiB);
  auto file = io_->Create("s3://b/out").value();
  RangeCopies* const copies = file->range_copies();
  ASSERT_NE(copies, nullptr);
  EXPECT_EQ(copies->Mark("s3://b/in file", kMiB)->version, "\"first\"");
  EXPECT_FALSE(copies->Mark("s3://b/in file", kMiB + 1));
  EXPECT_FALSE(copies->Mark("s3://b/none", kMiB));
  EXPECT_FALSE(copies->Mark("/local", kMiB));
  EXPECT_FALSE(copies->Mark("gs://b/in file", kMiB));
  tags_["s3://b/in file"] = "W/\"weak\"";
  EXPECT_FALSE(copies->Mark("s3://b/in file", kMiB));
}

TEST_F(S3RangesTest, AskedAfterTheFirstByte_HasNone) {
  auto file = io_->Create("s3://b/out").value();
  ASSERT_TRUE(file->Write(AsBytes("x")));
  EXPECT_EQ(file->range_copies(), nullptr);
}

}  // namespace
}  // namespace firn::ports
