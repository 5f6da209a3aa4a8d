// SPDX-License-Identifier: Apache-2.0
#include "ports/metadata_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ports/memory_file_io.h"

namespace firn::ports {
namespace {

iceberg::TableMetadata Metadata(const std::string& properties) {
  const std::string text =
      R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":"s3://b/t/",)"
      R"("last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[)"
      R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
      R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
      R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[],"properties":)" +
      properties + "}";
  return iceberg::TableMetadata::Parse(AsBytes(text)).value();
}

TEST(MetadataFile, Version_OfNames) {
  EXPECT_EQ(MetadataVersion("s3://b/t/metadata/00041-1234.gz.metadata.json"), 41);
  EXPECT_EQ(MetadataVersion("123456-x.metadata.json"), 123456);
  EXPECT_EQ(MetadataVersion("v3.metadata.json"), std::nullopt);
  EXPECT_EQ(MetadataVersion("-x.metadata.json"), std::nullopt);
  EXPECT_EQ(MetadataVersion("0x1-x.metadata.json"), std::nullopt);
  EXPECT_EQ(MetadataVersion("99999999999999999999-x.metadata.json"), std::nullopt);
}

TEST(MetadataFile, NextLocation_CountsOnLikeJava) {
  const auto plain = Metadata("{}");
  EXPECT_EQ(*NextMetadataLocation(plain, "s3://b/t/metadata/00041-x.metadata.json", "U"),
            "s3://b/t/metadata/00042-U.metadata.json");
  EXPECT_EQ(*NextMetadataLocation(plain, "s3://b/t/metadata/99999-x.metadata.json", "U"),
            "s3://b/t/metadata/100000-U.metadata.json");
  EXPECT_EQ(*NextMetadataLocation(plain, "s3://b/t/metadata/v3.metadata.json", "U"),
            "s3://b/t/metadata/00000-U.metadata.json");
  EXPECT_EQ(*NextMetadataLocation(Metadata(R"({"write.metadata.path":"s3://x/y/",)"
                                           R"("write.metadata.compression-codec":"Gzip"})"),
                                  "00001-x.metadata.json", "U"),
            "s3://x/y/00002-U.gz.metadata.json");
  const auto unknown = NextMetadataLocation(Metadata(R"({"write.metadata.compression-codec":"zip"})"), "", "U");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kUnsupported);
}

TEST(MetadataFile, Folder_IsAbsoluteOrBelowTheTable) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "s3://b/t/metadata"},   {"s3://x/y/", "s3://x/y"}, {"/x", "/x"},
      {"file:/x", "file:/x"},      {"meta", "s3://b/t/meta"}, {"meta/", "s3://b/t/meta"},
      {"a/b:c", "s3://b/t/a/b:c"},
  };
  for (const auto& [configured, folder] : cases) {
    const auto metadata = Metadata(fmt::format(R"({{"write.metadata.path":"{}"}})", configured));
    EXPECT_EQ(MetadataFolder(metadata), folder) << configured;
    EXPECT_EQ(*NextMetadataLocation(metadata, "", "U"), std::string(folder) + "/00000-U.metadata.json") << configured;
  }
}

TEST(MetadataFile, Encode_ThenRead_IsTheSame) {
  MemoryFileIO io;
  const auto metadata = Metadata(R"({"comment":")" + std::string(100'000, 'x') + R"("})");
  for (const MetadataCodec codec : {MetadataCodec::kNone, MetadataCodec::kGzip}) {
    const Bytes bytes = EncodeMetadata(metadata, codec).value();
    EXPECT_EQ(bytes.size() < 10'000, codec == MetadataCodec::kGzip);
    // The name says nothing: bytes decide.
    io.Put("m.metadata.json", bytes);
    const auto read = ReadMetadataFile(io, "m.metadata.json");
    ASSERT_TRUE(read) << ToString(read.error());
    EXPECT_EQ((*read)->ToJsonText(), metadata.ToJsonText());
  }
}

TEST(MetadataFile, Read_Broken_NamesTheFile) {
  MemoryFileIO io;
  Bytes gzip = EncodeMetadata(Metadata("{}"), MetadataCodec::kGzip).value();
  gzip.resize(gzip.size() / 2);
  io.Put("half", gzip);
  io.Put("text", {'x'});
  io.Put("empty", {});
  for (const char* name : {"half", "text", "empty"}) {
    const auto read = ReadMetadataFile(io, name);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kCorrupt) << name;
    EXPECT_EQ(read.error().message.rfind(name, 0), 0U) << read.error().message;
  }
  EXPECT_EQ(ReadMetadataFile(io, "none").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace firn::ports
