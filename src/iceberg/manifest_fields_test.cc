// SPDX-License-Identifier: Apache-2.0
#include "iceberg/manifest_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/avro/schema.h"
#include "iceberg/manifest_fixture.h"
#include "iceberg/partition_types.h"

namespace firn::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// "100 file_path string", "108 column_sizes ? array": what readers look at.
std::vector<std::string> Lines(const avro::Schema& record) {
  std::vector<std::string> lines;
  for (const avro::Field& field : record.fields) {
    const avro::Option option = avro::AsOption(*field.type);
    lines.push_back(std::to_string(field.field_id.value_or(-1)) + " " + field.name +
                    (option.null_branch == 0 ? " ? " : " ") + Describe(*option.value));
  }
  return lines;
}

const avro::Schema& Member(const avro::Schema& record, std::string_view name) {
  for (const avro::Field& field : record.fields) {
    if (field.name == name) return *avro::AsOption(*field.type).value;
  }
  std::abort();
}

TEST(ManifestSchemaText, V1) {
  const auto schema = *avro::ParseSchema(ManifestSchemaText(1, {}, {}));
  EXPECT_EQ(schema->name, "manifest_entry");
  EXPECT_THAT(Lines(*schema), ElementsAre("0 status int", "1 snapshot_id long", "2 data_file record r2"));
  EXPECT_THAT(Lines(Member(*schema, "data_file")),
              ElementsAre("100 file_path string", "101 file_format string", "102 partition record r102",
                          "103 record_count long", "104 file_size_in_bytes long", "105 block_size_in_bytes long",
                          "108 column_sizes ? array (map)", "109 value_counts ? array (map)",
                          "110 null_value_counts ? array (map)", "137 nan_value_counts ? array (map)",
                          "125 lower_bounds ? array (map)", "128 upper_bounds ? array (map)",
                          "131 key_metadata ? bytes", "132 split_offsets ? array", "140 sort_order_id ? int"));
}

TEST(ManifestSchemaText, V2) {
  const auto schema = *avro::ParseSchema(ManifestSchemaText(2, {}, {}));
  EXPECT_THAT(Lines(*schema), ElementsAre("0 status int", "1 snapshot_id ? long", "3 sequence_number ? long",
                                          "4 file_sequence_number ? long", "2 data_file record r2"));
  EXPECT_THAT(
      Lines(Member(*schema, "data_file")),
      ElementsAre("134 content int", "100 file_path string", "101 file_format string", "102 partition record r102",
                  "103 record_count long", "104 file_size_in_bytes long", "108 column_sizes ? array (map)",
                  "109 value_counts ? array (map)", "110 null_value_counts ? array (map)",
                  "137 nan_value_counts ? array (map)", "125 lower_bounds ? array (map)",
                  "128 upper_bounds ? array (map)", "131 key_metadata ? bytes", "132 split_offsets ? array",
                  "135 equality_ids ? array", "140 sort_order_id ? int", "143 referenced_data_file ? string"));
}

TEST(ManifestSchemaText, V3_AddsRowIdsAndVectors) {
  const auto schema = *avro::ParseSchema(ManifestSchemaText(3, {}, {}));
  std::vector<std::string> lines = Lines(Member(*schema, "data_file"));
  ASSERT_EQ(lines.size(), 20u);
  lines.erase(lines.begin(), lines.begin() + 15);
  EXPECT_THAT(lines,
              ElementsAre("140 sort_order_id ? int", "142 first_row_id ? long", "143 referenced_data_file ? string",
                          "144 content_offset ? long", "145 content_size_in_bytes ? long"));
}

TEST(ManifestSchemaText, MapsAndLists_HaveTheirIds) {
  const auto schema = *avro::ParseSchema(ManifestSchemaText(2, {}, {}));
  const avro::Schema& file = Member(*schema, "data_file");
  const struct {
    const char* name;
    const char* record;
    std::int32_t key, value;
  } maps[] = {{"column_sizes", "k117_v118", 117, 118},      {"value_counts", "k119_v120", 119, 120},
              {"null_value_counts", "k121_v122", 121, 122}, {"nan_value_counts", "k138_v139", 138, 139},
              {"lower_bounds", "k126_v127", 126, 127},      {"upper_bounds", "k129_v130", 129, 130}};
  for (const auto& map : maps) {
    const avro::Schema& pair = *Member(file, map.name).items;
    EXPECT_EQ(pair.name, map.record);
    EXPECT_EQ(pair.fields[0].field_id, map.key);
    EXPECT_EQ(pair.fields[1].field_id, map.value);
  }
  EXPECT_EQ(Member(file, "split_offsets").element_id, 133);
  EXPECT_EQ(Member(file, "equality_ids").element_id, 136);
}

TEST(ManifestListSchemaText, EveryVersion) {
  const auto v1 = *avro::ParseSchema(ManifestListSchemaText(1));
  EXPECT_EQ(v1->name, "manifest_file");
  EXPECT_THAT(
      Lines(*v1),
      ElementsAre("500 manifest_path string", "501 manifest_length long", "502 partition_spec_id int",
                  "503 added_snapshot_id long", "504 added_files_count ? int", "505 existing_files_count ? int",
                  "506 deleted_files_count ? int", "507 partitions ? array", "512 added_rows_count ? long",
                  "513 existing_rows_count ? long", "514 deleted_rows_count ? long", "519 key_metadata ? bytes"));
  const std::vector<std::string> common{"500 manifest_path string",     "501 manifest_length long",
                                        "502 partition_spec_id int",    "517 content int",
                                        "515 sequence_number long",     "516 min_sequence_number long",
                                        "503 added_snapshot_id long",   "504 added_files_count int",
                                        "505 existing_files_count int", "506 deleted_files_count int",
                                        "512 added_rows_count long",    "513 existing_rows_count long",
                                        "514 deleted_rows_count long",  "507 partitions ? array",
                                        "519 key_metadata ? bytes"};
  const auto v2 = *avro::ParseSchema(ManifestListSchemaText(2));
  EXPECT_EQ(Lines(*v2), common);
  std::vector<std::string> with_ids = common;
  with_ids.push_back("520 first_row_id ? long");
  EXPECT_EQ(Lines(**avro::ParseSchema(ManifestListSchemaText(3))), with_ids);
  const avro::Schema& partitions = Member(*v2, "partitions");
  EXPECT_EQ(partitions.element_id, 508);
  EXPECT_EQ(partitions.items->name, "r508");
  EXPECT_THAT(Lines(*partitions.items), ElementsAre("509 contains_null boolean", "518 contains_nan ? boolean",
                                                    "510 lower_bound ? bytes", "511 upper_bound ? bytes"));
}

TEST(ManifestSchemaText, PartitionFields_HaveTypesOfTheSpecAndAvroNames) {
  const std::pair<const char*, const char*> columns[] = {
      {"boolean", "boolean"},
      {"int", "int"},
      {"long", "long"},
      {"float", "float"},
      {"double", "double"},
      {"decimal(9,2)", "fixed decimal_9_2 of 4 bytes (decimal)"},
      {"decimal(9,2)", "fixed decimal_9_2 of 4 bytes (decimal)"},  // named once, then by its name
      {"decimal(38,0)", "fixed decimal_38_0 of 16 bytes (decimal)"},
      {"date", "int (date)"},
      {"time", "long (time-micros)"},
      {"timestamp", "long (timestamp-micros)"},
      {"timestamptz", "long (timestamp-micros)"},
      {"timestamp_ns", "long (timestamp-nanos)"},
      {"timestamptz_ns", "long (timestamp-nanos)"},
      {"string", "string"},
      {"uuid", "fixed uuid_fixed of 16 bytes (uuid)"},
      {"fixed[7]", "fixed fixed_7 of 7 bytes"},
      {"fixed[7]", "fixed fixed_7 of 7 bytes"},
      {"binary", "bytes"},
  };
  std::string fields, spec;
  int id = 0;
  for (const auto& [type, avro_type] : columns) {
    ++id;
    const std::string number = std::to_string(id);
    fields += std::string(id == 1 ? "" : ",") + R"({"id":)" + number + R"(,"name":"c)" + number +
              R"(","required":false,"type":")" + type + R"("})";
    spec += std::string(id == 1 ? "" : ",") + R"({"source-id":)" + number + R"(,"field-id":)" +
            std::to_string(1000 + id) + R"(,"name":"c.)" + number + R"(","transform":"identity"})";
  }
  const TableMetadata metadata = fixture::Table(3, fields, R"([{"spec-id":0,"fields":[)" + spec + "]}]");
  const std::string text =
      ManifestSchemaText(3, metadata.default_spec(), PartitionTypesIn(metadata, metadata.default_spec()));
  EXPECT_THAT(text, HasSubstr(R"("iceberg-field-name":"c.1","field-id":1001)"));
  EXPECT_THAT(text, HasSubstr(R"("adjust-to-utc":true)"));
  const auto schema = avro::ParseSchema(text);
  ASSERT_TRUE(schema.has_value()) << ToString(schema.error());
  const avro::Schema& tuple = Member(Member(**schema, "data_file"), "partition");
  ASSERT_EQ(tuple.fields.size(), std::size(columns));
  for (std::size_t i = 0; i < std::size(columns); ++i) {
    EXPECT_EQ(Lines(tuple)[i], std::to_string(1001 + i) + " c_x2E" + std::to_string(i + 1) + " ? " + columns[i].second);
  }
}

TEST(AvroName, KeepsValidNamesAndEscapesOthers) {
  const std::pair<const char*, const char*> names[] = {
      {"plain_1", "plain_1"},
      {"a.b", "a_x2Eb"},
      {"two words", "two_x20words"},
      {"1st", "_1st"},
      {"x-y", "x_x2Dy"},
      {"", "_"},
      {"Größe", "Gr_xF6_xDFe"},
      {"9", "_9"},
      {"日本", "_x65E5_x672C"},
      {"\xF0\x9F\x98\x80", "_xD83D_xDE00"},
  };
  for (const auto& [name, avro_name] : names) EXPECT_EQ(AvroName(name), avro_name);
}

TEST(DecimalBytes, FitsEveryValueOfThePrecision) {
  const std::size_t expected[] = {1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 6, 7, 7, 8, 8, 9, 9};
  for (std::int32_t precision = 1; precision <= 20; ++precision) {
    EXPECT_EQ(DecimalBytes(precision), expected[precision - 1]) << precision;
  }
  EXPECT_EQ(DecimalBytes(38), 16u);
}

}  // namespace
}  // namespace firn::iceberg
