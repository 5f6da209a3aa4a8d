// SPDX-License-Identifier: Apache-2.0
#include "format/puffin/puffin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4frame.h>

namespace firn::puffin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kPayload =
    R"({"blobs":[{"type":"deletion-vector-v1","fields":[2147483645],"snapshot-id":-1,"sequence-number":-1,)"
    R"("offset":4,"length":6,"properties":{"referenced-data-file":"s3://b/f.parquet","cardinality":"3"}},)"
    R"({"type":"x","fields":[],"snapshot-id":9007199254740993,"sequence-number":2,"offset":10,"length":0,)"
    R"("compression-codec":"zstd"}],"properties":{"created-by":"firn"}})";

Bytes File(ByteView payload, std::uint8_t flags, std::string_view blobs = "abcdef") {
  Bytes bytes;
  const auto add = [&bytes](ByteView part) { bytes.insert(bytes.end(), part.begin(), part.end()); };
  add(AsBytes("PFA1"));
  add(AsBytes(blobs));
  add(AsBytes("PFA1"));
  add(payload);
  std::uint8_t size[4];
  StoreLittle(size, static_cast<std::int32_t>(payload.size()));
  add(size);
  add(Bytes{flags, 0, 0, 0});
  add(AsBytes("PFA1"));
  return bytes;
}

Result<FileMetadata> Footer(Bytes bytes) {
  MemorySource source("stats.puffin", std::move(bytes));
  return ReadFooter(source);
}

TEST(ReadFooter, PlainPayload_GivesBlobs) {
  const auto footer = Footer(File(AsBytes(kPayload), 0));
  ASSERT_TRUE(footer.has_value()) << ToString(footer.error());
  ASSERT_EQ(footer->blobs.size(), 2u);
  EXPECT_EQ(footer->blobs[0].type, "deletion-vector-v1");
  EXPECT_THAT(footer->blobs[0].fields, ElementsAre(2147483645));
  EXPECT_EQ(footer->blobs[0].snapshot_id, -1);
  EXPECT_EQ(footer->blobs[0].offset, 4u);
  EXPECT_EQ(footer->blobs[0].length_bytes, 6u);
  EXPECT_EQ(*footer->blobs[0].FindProperty("cardinality"), "3");
  EXPECT_EQ(footer->blobs[0].FindProperty("ndv"), nullptr);
  EXPECT_EQ(footer->blobs[1].snapshot_id, 9007199254740993);
  EXPECT_EQ(footer->blobs[1].compression_codec, "zstd");
  EXPECT_EQ(footer->properties.at(0).second, "firn");
  EXPECT_EQ(footer->footer_size_bytes, kPayload.size() + 16);
}

TEST(ReadFooter, CompressedPayload_IsExpanded) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.contentSize = kPayload.size();
  Bytes frame(LZ4F_compressFrameBound(kPayload.size(), &preferences));
  frame.resize(LZ4F_compressFrame(frame.data(), frame.size(), kPayload.data(), kPayload.size(), &preferences));
  const auto footer = Footer(File(frame, 1));
  ASSERT_TRUE(footer.has_value()) << ToString(footer.error());
  EXPECT_EQ(footer->blobs.size(), 2u);
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_EQ(Footer(File(ByteView(frame).first(size), 1)).error().code, Code::kCorrupt) << size;
  }
}

TEST(ReadFooter, EmptyFile_HasNoBlobs) {
  const auto footer = Footer(File(AsBytes(R"({"blobs":[]})"), 0, ""));
  ASSERT_TRUE(footer.has_value()) << ToString(footer.error());
  EXPECT_TRUE(footer->blobs.empty());
}

TEST(ReadFooter, BadInput_IsAnErrorWithTheFilesName) {
  const auto blob = [](std::string_view offset, std::string_view length) {
    return R"({"blobs":[{"type":"x","fields":[1],"snapshot-id":1,"sequence-number":1,"offset":)" + std::string(offset) +
           R"(,"length":)" + std::string(length) + "}]}";
  };
  Bytes bad_start = File(AsBytes(kPayload), 0);
  bad_start[0] = 'X';
  Bytes bad_end = File(AsBytes(kPayload), 0);
  bad_end.back() = 'X';
  Bytes bad_size = File(AsBytes(kPayload), 0);
  bad_size[bad_size.size() - 9] = 0x7f;
  const std::string texts[] = {blob("3", "1"),
                               blob("4", "7"),
                               blob("11", "0"),
                               blob("4", "-1"),
                               blob("4.5", "1"),
                               "{}",
                               "[]",
                               "",
                               R"({"blobs":[{}]})",
                               R"({"blobs":[],"properties":{"a":1}})"};
  for (const std::string& text : texts) {
    const auto footer = Footer(File(AsBytes(text), 0));
    ASSERT_FALSE(footer.has_value()) << text;
    EXPECT_EQ(footer.error().code, Code::kCorrupt) << text;
    EXPECT_THAT(footer.error().message, HasSubstr("stats.puffin: "));
  }
  for (const Bytes& bytes : {bad_start, bad_end, bad_size, Bytes{}, Bytes(19)}) {
    EXPECT_EQ(Footer(bytes).error().code, Code::kCorrupt);
  }
}

TEST(ReadFooter, UnknownFlags_AreUnsupported) {
  EXPECT_EQ(Footer(File(AsBytes(kPayload), 2)).error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace firn::puffin
