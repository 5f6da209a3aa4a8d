// SPDX-License-Identifier: Apache-2.0
#include "act/data_location.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "act/metadata_fixture.h"

namespace firn::act {
namespace {

struct Case {
  std::string name, location, properties, partition_path, expected;
};

class DataLocationTest : public testing::TestWithParam<Case> {};

TEST_P(DataLocationTest, NewLocation_IsWhereJavaPutsIt) {
  const iceberg::TableMetadata metadata = TableWith(GetParam().location, GetParam().properties);
  const Result<DataLocations> locations = DataLocations::For(metadata);
  ASSERT_TRUE(locations.has_value());
  EXPECT_EQ(locations->NewLocation(GetParam().partition_path, "a"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, DataLocationTest,
    testing::Values(
        Case{"plain", "s3://b/db/t", "", "", "s3://b/db/t/data/a"},
        Case{"slash_at_the_end", "s3://b/db/t/", "", "p=1", "s3://b/db/t/data/p=1/a"},
        Case{"data_path", "s3://b/db/t", R"("write.data.path":"s3://c/files/")", "p=1", "s3://c/files/p=1/a"},
        Case{"relative_data_path", "/wh/t", R"("write.data.path":"files")", "", "/wh/t/files/a"},
        Case{"folder_storage", "/wh/t", R"("write.folder-storage.path":"/x")", "", "/x/a"},
        Case{"data_path_wins", "/wh/t", R"("write.folder-storage.path":"/x","write.data.path":"/y")", "", "/y/a"},
        Case{"object_storage_path_unused", "/wh/t", R"("write.object-storage.path":"/x")", "", "/wh/t/data/a"},
        Case{"hashed", "/wh/t", R"("write.object-storage.enabled":"true")", "", "/wh/t/data/0101/0110/1001/10110010/a"},
        Case{"hashed_without_partitions", "/wh/t",
             R"("write.object-storage.enabled":"TRUE","write.object-storage.partitioned-paths":"false")", "p=1",
             "/wh/t/data/0101/0110/1001/10110010-a"},
        Case{"hashed_elsewhere", "s3://b/db/t",
             R"("write.object-storage.enabled":"true","write.object-storage.path":"s3://c")", "",
             "s3://c/0101/0110/1001/10110010/db/t/a"}),
    [](const auto& param) { return param.param.name; });

TEST(HashFolders, KnownNames_GiveKnownFolders) {
  EXPECT_EQ(HashFolders("a"), "0101/0110/1001/10110010");
  EXPECT_EQ(HashFolders("b"), "1110/0111/1110/00000011");
  EXPECT_EQ(HashFolders("c"), "0010/1101/0110/01011111");
  EXPECT_EQ(HashFolders("d"), "1001/0001/0100/01110011");
}

TEST(HashFolders, PartitionedPath_HashesTheWholePath) {
  const iceberg::TableMetadata metadata = TableWith("/wh/t", R"("write.object-storage.enabled":"true")");
  const Result<DataLocations> locations = DataLocations::For(metadata);
  ASSERT_TRUE(locations.has_value());
  EXPECT_EQ(locations->NewLocation("p=1", "a"), "/wh/t/data/" + HashFolders("p=1/a") + "/p=1/a");
}

TEST(DataLocations, CustomProvider_Refused) {
  for (const std::string key : {"write.location-provider.impl", "write.py-location-provider.impl"}) {
    const iceberg::TableMetadata metadata = TableWith("/wh/t", fmt::format(R"("{}":"com.example.Mine")", key));
    const Result<DataLocations> locations = DataLocations::For(metadata);
    ASSERT_FALSE(locations.has_value());
    EXPECT_EQ(locations.error().code, Code::kUnsupported);
  }
}

}  // namespace
}  // namespace firn::act
