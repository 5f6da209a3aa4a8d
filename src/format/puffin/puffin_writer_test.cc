// SPDX-License-Identifier: Apache-2.0
#include "format/puffin/puffin_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::puffin {
namespace {

using ::testing::ElementsAre;

TEST(Writer, SeveralBlobs_AreReadBack) {
  MemorySink sink("a.puffin");
  auto writer = Writer::Begin(sink);
  ASSERT_TRUE(writer.has_value());
  BlobMetadata vector;
  vector.type = "deletion-vector-v1";
  vector.fields = {2147483645};
  vector.snapshot_id = vector.sequence_number = -1;
  vector.properties = {{"referenced-data-file", "s3://b/\"x\" \xc3\xa4.parquet"}, {"cardinality", "3"}};
  BlobMetadata sketch;
  sketch.type = "apache-datasketches-theta-v1";
  sketch.fields = {1, 2};
  sketch.snapshot_id = 9007199254740993;
  sketch.sequence_number = 4;
  sketch.compression_codec = "zstd";
  const auto first = writer->Add(vector, AsBytes("abc"));
  const auto second = writer->Add(sketch, AsBytes(""));
  const auto third = writer->Add(vector, AsBytes("defgh"));
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(third->offset, 7u);
  const auto written = writer->Finish({{"created-by", "firn"}});
  ASSERT_TRUE(written.has_value());

  MemorySource source("a.puffin", sink.bytes());
  const auto read = ReadFooter(source);
  ASSERT_TRUE(read.has_value()) << ToString(read.error());
  ASSERT_EQ(read->blobs.size(), 3u);
  EXPECT_EQ(read->blobs[0].type, "deletion-vector-v1");
  EXPECT_THAT(read->blobs[0].fields, ElementsAre(2147483645));
  EXPECT_EQ(read->blobs[0].snapshot_id, -1);
  EXPECT_EQ(read->blobs[0].sequence_number, -1);
  EXPECT_EQ(read->blobs[0].properties, vector.properties);
  EXPECT_EQ(read->blobs[0].compression_codec, "");
  EXPECT_THAT(read->blobs[1].fields, ElementsAre(1, 2));
  EXPECT_EQ(read->blobs[1].snapshot_id, 9007199254740993);
  EXPECT_EQ(read->blobs[1].compression_codec, "zstd");
  EXPECT_EQ(read->blobs[1].length_bytes, 0u);
  EXPECT_EQ(AsText(ByteView(sink.bytes()).subspan(read->blobs[2].offset, read->blobs[2].length_bytes)), "defgh");
  EXPECT_EQ(read->properties, (Properties{{"created-by", "firn"}}));
  EXPECT_EQ(read->footer_size_bytes, written->footer_size_bytes);
}

TEST(Writer, NoBlobs_GiveAnEmptyFile) {
  MemorySink sink("a.puffin");
  auto writer = Writer::Begin(sink);
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(writer->Finish({}).has_value());
  EXPECT_EQ(sink.bytes().size(), 32u);  // as the smallest file of the specification: {"blobs":[]}
  MemorySource source("a.puffin", sink.bytes());
  EXPECT_TRUE(ReadFooter(source).has_value());
}

}  // namespace
}  // namespace firn::puffin
