// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "format/avro/container_reader.h"
#include "format/avro/container_writer.h"

namespace firn::avro {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSchema = R"({"type":"record","name":"r","fields":[{"name":"n","type":"long"},)"
                                R"({"name":"s","type":"string"}]})";

SyncMarker Sync() {
  SyncMarker sync;
  for (std::size_t i = 0; i < sync.size(); ++i) sync[i] = static_cast<std::uint8_t>(i * 17 + 3);
  return sync;
}

Bytes Written(Codec codec, int count, std::size_t text_size = 20) {
  MemorySink sink("out.avro");
  auto writer = ContainerWriter::Open(sink, kSchema, {{"format-version", "2"}}, codec, Sync());
  EXPECT_TRUE(writer.has_value());
  Random random(3);
  for (int i = 0; i < count; ++i) {
    (*writer)->encoder().WriteLong(i);
    (*writer)->encoder().WriteString(std::string(text_size, static_cast<char>('a' + random.Below(4))));
    EXPECT_TRUE((*writer)->EndObject().has_value());
  }
  EXPECT_TRUE((*writer)->Finish().has_value());
  return sink.bytes();
}

/// Gives at most `step` bytes a read.
class SlowSource final : public SequentialSource {
 public:
  SlowSource(Bytes bytes, std::size_t step) : bytes_(std::move(bytes)), step_(step) {}
  const std::string& name() const override { return name_; }
  Result<std::size_t> Read(std::span<std::uint8_t> out) override {
    const std::size_t count = std::min({out.size(), step_, bytes_.size() - at_});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

 private:
  std::string name_ = "slow.avro";
  Bytes bytes_;
  std::size_t step_, at_ = 0;
};

Result<std::int64_t> CountObjects(const Bytes& bytes, std::size_t step = 1000, ReaderOptions options = {}) {
  SlowSource source(bytes, step);
  FIRN_ASSIGN(const auto reader, ContainerReader::Open(source, options));
  Block block;
  std::int64_t total = 0;
  while (true) {
    FIRN_ASSIGN(const bool more, reader->Next(block));
    if (!more) return total;
    Cursor cursor(block.bytes);
    for (std::uint64_t i = 0; i < block.object_count; ++i) {
      if (cursor.ReadLong() != total) return Error{Code::kCorrupt, "wrong value"};
      (void)cursor.ReadBytes();
      ++total;
    }
    if (!cursor.ok() || cursor.left() > 0) return reader->ErrorIn(Code::kCorrupt, "left over", block, 0);
  }
}

class ContainerCodec : public ::testing::TestWithParam<Codec> {};

TEST_P(ContainerCodec, RoundTrip) {
  for (const int count : {0, 1, 7, 9000}) {
    const Bytes bytes = Written(GetParam(), count);
    for (const std::size_t step : {std::size_t{1}, std::size_t{777}, std::size_t{1} << 20}) {
      if (step == 1 && count > 7) continue;
      const auto total = CountObjects(bytes, step, {.read_step_bytes = 64});
      ASSERT_TRUE(total.has_value()) << ToString(total.error());
      EXPECT_EQ(*total, count);
    }
  }
}

TEST_P(ContainerCodec, EveryTruncation_IsAnErrorOrEndsBetweenBlocks) {
  const Bytes bytes = Written(GetParam(), 50);
  int accepted = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto total = CountObjects(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    if (total) {
      EXPECT_EQ(*total, 0);
      ++accepted;
    } else {
      EXPECT_EQ(total.error().code, Code::kCorrupt) << ToString(total.error());
    }
  }
  EXPECT_EQ(accepted, 1);  // the header alone is a file without objects
}

TEST_P(ContainerCodec, ExpansionBeyondTheLimit_IsRefused) {
  const Bytes bytes = Written(GetParam(), 2, 3'000'000);
  const auto total = CountObjects(bytes, 1 << 20, {.block_max_bytes = 1'000'000});
  ASSERT_FALSE(total.has_value());
  EXPECT_EQ(total.error().code, Code::kLimit) << ToString(total.error());
  EXPECT_THAT(total.error().message, HasSubstr("slow.avro"));
}

INSTANTIATE_TEST_SUITE_P(All, ContainerCodec,
                         ::testing::Values(Codec::kNull, Codec::kDeflate, Codec::kZstd, Codec::kSnappy),
                         [](const auto& test) { return std::string(CodecName(test.param)); });

TEST(ContainerReader, HeaderIsKeptVerbatim) {
  SlowSource source(Written(Codec::kDeflate, 1), 100);
  const auto reader = ContainerReader::Open(source);
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(*(*reader)->FindMetadata("avro.schema"), kSchema);
  EXPECT_EQ(*(*reader)->FindMetadata("format-version"), "2");
  EXPECT_EQ((*reader)->FindMetadata("content"), nullptr);
  EXPECT_EQ((*reader)->schema().fields.size(), 2u);
}

TEST(ContainerReader, ChangedBytes_AreErrorsThatNameTheFile) {
  const Bytes good = Written(Codec::kSnappy, 100);
  Bytes bad_magic = good, bad_sync = good, bad_body = good;
  bad_magic[3] = 2;
  bad_sync.back() ^= 1;
  bad_body[bad_body.size() - 40] ^= 4;
  for (const Bytes& bytes : {bad_magic, bad_sync, bad_body}) {
    const auto total = CountObjects(bytes);
    ASSERT_FALSE(total.has_value());
    EXPECT_EQ(total.error().code, Code::kCorrupt);
    EXPECT_THAT(total.error().message, HasSubstr("slow.avro: "));
  }
}

TEST(ContainerReader, EncryptedFile_IsUnsupported) {
  const auto total = CountObjects({'A', 'G', 'S', '1', 0, 0, 0, 0});
  ASSERT_FALSE(total.has_value());
  EXPECT_EQ(total.error().code, Code::kUnsupported);
}

Bytes HeaderOnly(std::string_view schema, std::string_view codec) {
  Encoder encoder;
  encoder.WriteFixed(AsBytes("Obj\1"));
  encoder.WriteLong(2);
  encoder.WriteString("avro.schema");
  encoder.WriteString(schema);
  encoder.WriteString("avro.codec");
  encoder.WriteString(codec);
  encoder.WriteLong(0);
  encoder.WriteFixed(Sync());
  return encoder.bytes();
}

TEST(ContainerReader, OtherCodec_IsUnsupported) {
  EXPECT_EQ(CountObjects(HeaderOnly(kSchema, "bzip2")).error().code, Code::kUnsupported);
}

TEST(ContainerReader, HostileCounts_AreErrorsWithoutLargeAllocations) {
  struct Case {
    const char* schema;
    std::int64_t count, size;
    Bytes body;
  };
  const Case cases[] = {
      {kSchema, std::int64_t{1} << 60, 3, {0, 0, 0}},
      {R"("null")", std::int64_t{1} << 60, 0, {}},
      {kSchema, -1, 3, {0, 0, 0}},
      {kSchema, 1, -1, {}},
      {kSchema, 1, 200 << 20, {0, 0}},
      {kSchema, 1, std::int64_t{1} << 50, {0, 0}},
  };
  for (const Case& test : cases) {
    Bytes bytes = HeaderOnly(test.schema, "null");
    Encoder block;
    block.WriteLong(test.count);
    block.WriteLong(test.size);
    block.WriteFixed(test.body);
    block.WriteFixed(Sync());
    bytes.insert(bytes.end(), block.bytes().begin(), block.bytes().end());
    EXPECT_FALSE(CountObjects(bytes).has_value()) << test.count << " " << test.size;
  }
}

TEST(ContainerWriter, LargeObjects_AreSplitIntoBlocks) {
  const Bytes bytes = Written(Codec::kNull, 100, 10'000);
  SlowSource source(bytes, 1 << 20);
  const auto reader = ContainerReader::Open(source);
  ASSERT_TRUE(reader.has_value());
  Block block;
  int blocks = 0;
  while (true) {
    const auto more = (*reader)->Next(block);
    ASSERT_TRUE(more.has_value());
    if (!*more) break;
    ++blocks;
    EXPECT_LE(block.bytes.size(), 64'000u + 10'010u);
  }
  EXPECT_EQ(blocks, 15);
}

}  // namespace
}  // namespace firn::avro
