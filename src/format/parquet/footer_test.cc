// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/footer.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "format/parquet/thrift_structs.h"

namespace firn::parquet {
namespace {

SchemaElement Group(std::string name, std::int32_t children, std::optional<Repetition> repetition) {
  SchemaElement element;
  element.name = std::move(name);
  element.num_children = children;
  element.repetition = repetition;
  return element;
}

SchemaElement LeafElement(std::string name, PhysicalType type, Repetition repetition) {
  SchemaElement element;
  element.name = std::move(name);
  element.type = type;
  element.repetition = repetition;
  return element;
}

ColumnMetaData FullColumnMetaData() {
  ColumnMetaData meta;
  meta.type = PhysicalType::kInt64;
  meta.encodings = {Encoding::kPlain, Encoding::kRle, Encoding::kRleDictionary, static_cast<Encoding>(10)};
  meta.path_in_schema = {"a"};
  meta.codec = Codec::kZstd;
  meta.num_values = 10;
  meta.total_uncompressed_size = 90;
  meta.total_compressed_size = 80;
  meta.key_value_metadata = {{"k", "v"}, {"only key", std::nullopt}};
  meta.data_page_offset = 30;
  meta.dictionary_page_offset = 4;
  Statistics& statistics = meta.statistics.emplace();
  statistics.min = Bytes{1};
  statistics.max = Bytes{2};
  statistics.null_count = 3;
  statistics.distinct_count = 4;
  statistics.min_value = Bytes{};
  statistics.max_value = Bytes{9, 9};
  statistics.is_min_value_exact = true;
  statistics.is_max_value_exact = false;
  statistics.nan_count = 0;
  meta.encoding_stats = {{PageType::kDictionary, Encoding::kPlain, 1}, {PageType::kDataV2, Encoding::kPlain, 40}};
  meta.bloom_filter_offset = 500;
  meta.bloom_filter_length = 47;
  meta.size_statistics = SizeStatistics{77, {1, 2}, {3, 4}};
  AppendKept(meta.unknown, 17, ThriftType::kStruct, Bytes{0});
  return meta;
}

FileMetaData FullMetaData() {
  FileMetaData metadata;
  metadata.version = 2;
  SchemaElement typed = LeafElement("a", PhysicalType::kInt64, Repetition::kOptional);
  typed.field_id = 1;
  typed.logical.kind = LogicalKind::kTimestamp;
  typed.logical.unit = TimeUnit::kMicros;
  typed.logical.adjusted_to_utc = true;
  AppendKept(typed.unknown, 99, ThriftType::kI32, Bytes{4});
  metadata.schema = {Group("table", 1, std::nullopt), typed};
  metadata.num_rows = 10;
  RowGroup& group = metadata.row_groups.emplace_back();
  group.num_rows = 10;
  group.total_byte_size = 90;
  group.total_compressed_size = 80;
  group.file_offset = 4;
  group.ordinal = std::int16_t{0};
  group.sorting_columns = {{0, true, false}};
  ColumnChunk& chunk = group.columns.emplace_back();
  chunk.meta = FullColumnMetaData();
  chunk.offset_index_offset = 300;
  chunk.offset_index_length = 11;
  chunk.column_index_offset = 311;
  chunk.column_index_length = 12;
  metadata.key_value_metadata = {{"iceberg.schema", "{}"}};
  metadata.created_by = "firn";
  metadata.column_orders = {ColumnOrder::kTypeDefined};
  AppendKept(metadata.unknown, 50, ThriftType::kBinary, Bytes{2, 'h', 'i'});
  return metadata;
}

/// A file of `data_bytes` bytes before the footer, all zero but the magic.
Bytes FileOf(const FileMetaData& metadata, std::size_t data_bytes) {
  Bytes file(data_bytes, 0);
  std::memcpy(file.data(), "PAR1", 4);
  const Bytes footer = WriteFooter(metadata);
  file.insert(file.end(), footer.begin(), footer.end());
  return file;
}

Result<FileMetaData> ReadFrom(Bytes file, std::uint64_t tail_bytes = 64 << 10) {
  MemorySource source("x.parquet", std::move(file));
  return ReadFooter(source, tail_bytes);
}

TEST(Footer, EveryMember_RoundTrips) {
  const FileMetaData metadata = FullMetaData();
  const Bytes file = FileOf(metadata, 600);
  for (const std::uint64_t tail_bytes : {std::uint64_t{8}, std::uint64_t{100}, std::uint64_t{1} << 20}) {
    const Result<FileMetaData> parsed = ReadFrom(file, tail_bytes);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(WriteFooter(*parsed), WriteFooter(metadata));
    const ColumnMetaData& meta = *parsed->row_groups[0].columns[0].meta;
    EXPECT_EQ(meta.encodings[3], static_cast<Encoding>(10));
    EXPECT_EQ(meta.statistics->max_value, (Bytes{9, 9}));
    EXPECT_EQ(meta.statistics->min_value, Bytes{});
    EXPECT_EQ(meta.statistics->is_max_value_exact, false);
    EXPECT_EQ(meta.statistics->nan_count, 0);
    EXPECT_EQ(meta.key_value_metadata[1].value, std::nullopt);
    EXPECT_EQ(meta.size_statistics->definition_level_histogram, (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(meta.bloom_filter_length, 47);
    EXPECT_EQ(parsed->schema[1].logical, metadata.schema[1].logical);
    EXPECT_EQ(parsed->schema[1].field_id, 1);
    EXPECT_EQ(parsed->row_groups[0].sorting_columns[0].descending, true);
    EXPECT_EQ(parsed->row_groups[0].columns[0].column_index_length, 12);
    EXPECT_EQ(parsed->column_orders[0], ColumnOrder::kTypeDefined);
    EXPECT_EQ(parsed->unknown, metadata.unknown);
  }
}

TEST(Footer, RowGroupsOneByOne_GiveTheSameBytes) {
  FileMetaData metadata = FullMetaData();
  metadata.row_groups.push_back(metadata.row_groups[0]);
  metadata.row_groups[1].ordinal = std::int16_t{1};
  std::vector<Bytes> packed;
  for (const RowGroup& group : metadata.row_groups) packed.push_back(PackRowGroup(group));
  const Bytes whole = WriteFooter(metadata);
  metadata.row_groups.clear();
  const Bytes streamed = WriteFooter(metadata, packed.size(), [&](std::size_t i) {
    const Result<RowGroup> group = UnpackRowGroup(packed[i]);
    EXPECT_TRUE(group) << group.error().message;
    return group ? *group : RowGroup();
  });
  EXPECT_EQ(streamed, whole);
  packed[0].resize(packed[0].size() / 2);
  EXPECT_EQ(UnpackRowGroup(packed[0]).error().code, Code::kCorrupt);
}

TEST(Footer, LongerThanAllowed_IsALimit) {
  const Bytes file = FileOf(FullMetaData(), 600);
  MemorySource source("x.parquet", file);
  const Result<FileMetaData> refused = ReadFooter(source, 100, 200);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kLimit);
  EXPECT_NE(refused.error().message.find("x.parquet"), std::string::npos);
}

TEST(Footer, Memory_CountsWhatIsPointedTo) {
  FileMetaData metadata = FullMetaData();
  const std::int64_t before = MemoryBytesOf(metadata);
  EXPECT_GT(before, static_cast<std::int64_t>(sizeof(FileMetaData) + sizeof(ColumnChunk) + 2 * sizeof(SchemaElement)));
  metadata.row_groups[0].columns[0].meta->statistics->min_value = Bytes(1000);
  EXPECT_GE(MemoryBytesOf(metadata), before + 1000);
  metadata.key_value_metadata[0].value = std::string(5000, 'x');
  EXPECT_GE(MemoryBytesOf(metadata), before + 6000);
}

TEST(Footer, TimestampOfUnknownUnit_IsKeptAsOther) {
  const Bytes bytes = {0x8c, 0x11, 0x1c, 0x9c, 0, 0, 0, 0};  // TIMESTAMP {true, unit {9: {}}}
  ThriftReader reader(bytes);
  LogicalType parsed;
  Read(reader, parsed);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(parsed.kind, LogicalKind::kOther);
  Bytes again;
  Write(parsed, again);
  EXPECT_EQ(again, bytes);
}

TEST(Footer, UnitOfAnotherWireType_IsNone) {
  const Bytes bytes = {0x8c, 0x11, 0x1c, 0x24, 0x00, 0, 0, 0};  // TIMESTAMP {true, unit {2: an i16}}
  ThriftReader reader(bytes);
  LogicalType parsed;
  Read(reader, parsed);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(parsed.kind, LogicalKind::kOther);
}

TEST(Footer, LogicalTypesWithoutTheirMembers_AreRefused) {
  for (const Bytes& bytes :
       {Bytes{0x7c, 0x12, 0, 0}, Bytes{0x8c, 0x2c, 0x2c, 0, 0, 0, 0}, Bytes{0xac, 0x13, 8, 0, 0}}) {
    ThriftReader reader(bytes);
    LogicalType parsed;
    Read(reader, parsed);
    EXPECT_FALSE(reader.ok());
  }
}

struct Broken {
  const char* name;
  Code code;
  std::function<void(FileMetaData&)> edit;
};

TEST(Footer, BrokenMembers_AreRefused) {
  const auto chunk = [](FileMetaData& m) -> ColumnChunk& { return m.row_groups[0].columns[0]; };
  const Broken cases[] = {
      {"chunk behind the data", Code::kCorrupt, [&](auto& m) { chunk(m).meta->total_compressed_size = 597; }},
      {"chunk at the magic", Code::kCorrupt,
       [&](auto& m) { chunk(m).meta->data_page_offset = 0, chunk(m).meta->dictionary_page_offset.reset(); }},
      {"negative size", Code::kCorrupt, [&](auto& m) { chunk(m).meta->total_compressed_size = -1; }},
      {"negative offset", Code::kCorrupt, [&](auto& m) { chunk(m).meta->data_page_offset = -30; }},
      {"huge size", Code::kCorrupt,
       [&](auto& m) { chunk(m).meta->total_compressed_size = std::numeric_limits<std::int64_t>::max(); }},
      {"negative values", Code::kCorrupt, [&](auto& m) { chunk(m).meta->num_values = -1; }},
      {"other type than the schema", Code::kCorrupt, [&](auto& m) { chunk(m).meta->type = PhysicalType::kInt32; }},
      {"another file", Code::kUnsupported, [&](auto& m) { chunk(m).file_path = "part-1"; }},
      {"overlap", Code::kCorrupt, [](auto& m) { m.row_groups.push_back(m.row_groups[0]), m.num_rows = 20; }},
      {"too few columns", Code::kCorrupt, [](auto& m) { m.row_groups[0].columns.clear(); }},
      {"row count", Code::kCorrupt, [](auto& m) { m.num_rows = 11; }},
      {"negative rows", Code::kCorrupt, [](auto& m) { m.row_groups[0].num_rows = m.num_rows = -1; }},
      {"empty schema", Code::kCorrupt, [](auto& m) { m.schema.clear(); }},
      {"too many children", Code::kCorrupt, [](auto& m) { m.schema[0].num_children = 2; }},
      {"too few children", Code::kCorrupt, [](auto& m) { m.schema[0].num_children = 0; }},
      {"negative children", Code::kCorrupt, [](auto& m) { m.schema[0].num_children = -1; }},
      {"no repetition", Code::kCorrupt, [](auto& m) { m.schema[1].repetition.reset(); }},
      {"unknown repetition", Code::kCorrupt, [](auto& m) { m.schema[1].repetition = static_cast<Repetition>(3); }},
      {"unknown type", Code::kCorrupt, [](auto& m) { m.schema[1].type = static_cast<PhysicalType>(8); }},
      {"fixed length 0", Code::kCorrupt, [](auto& m) { m.schema[1].type = PhysicalType::kFixedLenByteArray; }},
  };
  for (const Broken& broken : cases) {
    FileMetaData metadata = FullMetaData();
    broken.edit(metadata);
    const Result<FileMetaData> parsed = ReadFrom(FileOf(metadata, 600));
    ASSERT_FALSE(parsed) << broken.name;
    EXPECT_EQ(parsed.error().code, broken.code) << broken.name;
    EXPECT_TRUE(parsed.error().message.starts_with("x.parquet: footer")) << parsed.error().message;
  }
}

TEST(Footer, MissingRowCount_IsTakenFromRowGroups) {
  FileMetaData metadata = FullMetaData();
  metadata.num_rows = 0;
  const Result<FileMetaData> parsed = ReadFrom(FileOf(metadata, 600));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->num_rows, 10);
}

TEST(Footer, DictionaryOffsetZeroOrBehind_IsNotTheStart) {
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{100000}}) {
    FileMetaData metadata = FullMetaData();
    metadata.row_groups[0].columns[0].meta->dictionary_page_offset = offset;
    EXPECT_TRUE(ReadFrom(FileOf(metadata, 600))) << offset;
  }
}

TEST(Footer, Encryption_IsReported) {
  FileMetaData metadata = FullMetaData();
  AppendKept(metadata.unknown, 8, ThriftType::kStruct, Bytes{0x1c, 0, 0});
  metadata.row_groups[0].columns[0].meta.reset();
  AppendKept(metadata.row_groups[0].columns[0].unknown, 8, ThriftType::kStruct, Bytes{0});
  const Result<FileMetaData> parsed = ReadFrom(FileOf(metadata, 600));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(parsed->encrypted);
  EXPECT_TRUE(parsed->row_groups[0].columns[0].encrypted);
  EXPECT_EQ(WriteFooter(*parsed), WriteFooter(metadata));

  Bytes file = FileOf(FullMetaData(), 600);
  std::memcpy(file.data() + file.size() - 4, "PARE", 4);
  const Result<FileMetaData> refused = ReadFrom(file);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnsupported);
}

TEST(Footer, TruncatedFiles_AreErrors) {
  const Bytes file = FileOf(FullMetaData(), 600);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Result<FileMetaData> parsed = ReadFrom(Bytes(file.begin(), file.begin() + static_cast<long>(size)));
    ASSERT_FALSE(parsed) << size;
    EXPECT_EQ(parsed.error().code, Code::kCorrupt);
  }
}

TEST(Footer, FlippedBits_NeverCrashAndKeepTheChecks) {
  const Bytes file = FileOf(FullMetaData(), 600);
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    Bytes broken = file;
    for (std::uint64_t flips = 1 + random.Below(3); flips > 0; --flips) {
      broken[600 + random.Below(broken.size() - 600)] ^= static_cast<std::uint8_t>(1U << random.Below(8));
    }
    const Result<FileMetaData> parsed = ReadFrom(broken);
    if (!parsed) continue;
    EXPECT_EQ(LeavesOf(parsed->schema).size(),
              parsed->row_groups.empty() ? LeavesOf(parsed->schema).size() : parsed->row_groups[0].columns.size());
  }
}

TEST(Footer, ListThatClaimsMoreThanThereIs_IsRefusedAtOnce) {
  Bytes thrift = {0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07};  // version, then 2^31 schema elements
  const Result<FileMetaData> parsed = ParseFooter(thrift, 1 << 30);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Code::kCorrupt);
}

TEST(Leaves, NestedSchema_HasLevelsAndPaths) {
  const std::vector<SchemaElement> schema = {
      Group("table", 3, std::nullopt),
      LeafElement("a", PhysicalType::kInt32, Repetition::kRequired),
      Group("m", 1, Repetition::kOptional),
      Group("key_value", 2, Repetition::kRepeated),
      LeafElement("key", PhysicalType::kByteArray, Repetition::kRequired),
      Group("value", 1, Repetition::kOptional),
      Group("list", 1, Repetition::kRepeated),
      LeafElement("element", PhysicalType::kDouble, Repetition::kOptional),
      LeafElement("z", PhysicalType::kInt32, Repetition::kOptional),
  };
  const std::vector<Leaf> leaves = LeavesOf(schema);
  ASSERT_EQ(leaves.size(), 4U);
  EXPECT_EQ(leaves[0].max_definition_level, 0);
  EXPECT_EQ(leaves[1].path, (std::vector<std::string>{"m", "key_value", "key"}));
  EXPECT_EQ(leaves[1].max_definition_level, 2);
  EXPECT_EQ(leaves[1].max_repetition_level, 1);
  EXPECT_EQ(leaves[2].max_definition_level, 5);
  EXPECT_EQ(leaves[2].max_repetition_level, 2);
  EXPECT_EQ(leaves[2].schema_index, 7);
  EXPECT_EQ(leaves[3].path, (std::vector<std::string>{"z"}));
  EXPECT_EQ(leaves[3].max_definition_level, 1);
}

TEST(Leaves, GroupsWithoutChildren_HaveNoLeaves) {
  const std::vector<SchemaElement> schema = {Group("table", 2, std::nullopt), Group("s", 0, Repetition::kOptional),
                                             LeafElement("a", PhysicalType::kInt32, Repetition::kRequired)};
  EXPECT_EQ(LeavesOf(schema).size(), 1U);
}

TEST(Leaves, TooDeepSchema_IsRefused) {
  std::vector<SchemaElement> schema = {Group("table", 1, std::nullopt)};
  for (int i = 0; i < 1000; ++i) schema.push_back(Group("g", 1, Repetition::kOptional));
  schema.push_back(LeafElement("a", PhysicalType::kInt32, Repetition::kRequired));
  EXPECT_TRUE(LeavesOf(schema).empty());
}

}  // namespace
}  // namespace firn::parquet
