// SPDX-License-Identifier: Apache-2.0
#include "splice/column_scan.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include "format/parquet/footer.h"
#include "splice/arrow_tables_test.h"

namespace firn::splice {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<ScanFile> Opened(Bytes bytes) {
  auto file = ScanFile::Open(std::make_unique<MemorySource>("in.parquet", std::move(bytes)));
  EXPECT_TRUE(file.has_value()) << ToString(file.error());
  return std::move(*file);
}

/// The leaf in the type that the file has.
ScanLeaf Same(const ScanFile& file, std::int32_t leaf) {
  const parquet::Leaf found = parquet::LeavesOf(file.footer().schema)[static_cast<std::size_t>(leaf)];
  return {leaf, file.footer().schema[static_cast<std::size_t>(found.schema_index)], std::nullopt};
}

parquet::SchemaElement Element(parquet::PhysicalType type, parquet::LogicalKind kind = parquet::LogicalKind::kNone) {
  parquet::SchemaElement element;
  element.type = type;
  element.logical.kind = kind;
  return element;
}

/// Values of one leaf: absent for null.
using Cells = std::vector<std::optional<Bytes>>;

Bytes Cell(const ScanColumn& column, std::size_t row) {
  const ByteView bytes =
      column.width() == 0 ? column.bytes(row) : ByteView(column.fixed() + row * column.width(), column.width());
  return {bytes.begin(), bytes.end()};
}

struct Scanned {
  std::vector<Cells> columns;
  std::vector<std::int64_t> positions;
};

Result<Scanned> Scan(ScanFile& file, const std::vector<ScanLeaf>& leaves, const ScanOptions& options = {}) {
  FIRN_ASSIGN(const auto scan, ColumnScan::Open(file, leaves, options));
  Scanned scanned;
  scanned.columns.resize(leaves.size());
  while (true) {
    FIRN_ASSIGN(const std::size_t rows, scan->Next());
    if (rows == 0) return scanned;
    for (std::size_t row = 0; row < rows; ++row) {
      scanned.positions.push_back(scan->first_row() + static_cast<std::int64_t>(row));
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        const ScanColumn& column = scan->column(i);
        const bool null = column.IsNull(row);
        EXPECT_LE(null, column.has_nulls());
        scanned.columns[i].push_back(null ? std::optional<Bytes>() : Cell(column, row));
      }
    }
  }
}

template <class T>
Bytes Raw(T value) {
  Bytes bytes(sizeof value);
  StoreLittle(bytes.data(), value);
  return bytes;
}

/// What Arrow reads, as bytes.
Cells CellsOf(const arrow::Array& array) {
  Cells cells;
  for (std::int64_t row = 0; row < array.length(); ++row) {
    if (array.IsNull(row)) {
      cells.emplace_back();
    } else if (array.type_id() == arrow::Type::BOOL) {
      cells.emplace_back(Raw(static_cast<const arrow::BooleanArray&>(array).Value(row)));
    } else if (array.type_id() == arrow::Type::STRING || array.type_id() == arrow::Type::BINARY) {
      const std::string_view text = static_cast<const arrow::BinaryArray&>(array).GetView(row);
      cells.emplace_back(Bytes(text.begin(), text.end()));
    } else {
      const int width = static_cast<const arrow::FixedWidthType&>(*array.type()).byte_width();
      const std::uint8_t* const from = array.data()->GetValues<std::uint8_t>(1, 0) + (row + array.offset()) * width;
      cells.emplace_back(Bytes(from, from + width));
    }
  }
  return cells;
}

TEST(ColumnScan, RandomTables_EqualWhatArrowReads) {
  Random random(11);
  const std::vector<std::string> types = {"bool",   "int32",  "int64",   "float", "double",    "string",
                                          "binary", "fixed3", "fixed16", "date",  "timestamp", "time"};
  for (int round = 0; round < 24; ++round) {
    testing::TableChoice choice;
    choice.types = types;
    choice.rows = static_cast<std::int64_t>(random.Below(5000));
    choice.null_share = round % 3 == 0 ? 0 : 0.3;
    choice.distinct = round % 2 == 0 ? 0 : 20;
    testing::FileChoice how;
    how.v2 = random.Below(2) == 0;
    how.dictionary = random.Below(2) == 0;
    how.page_rows = 1 + static_cast<std::int64_t>(random.Below(700));
    how.row_group_rows = 1 + static_cast<std::int64_t>(random.Below(3000));
    const testing::TablePtr table = testing::RandomTable(choice, random);
    const auto file = Opened(testing::WriteFile(table, how));
    std::vector<ScanLeaf> leaves;
    for (std::size_t i = 0; i < types.size(); ++i) leaves.push_back(Same(*file, static_cast<std::int32_t>(i)));
    ScanOptions options;
    options.batch_rows = 1 + random.Below(2000);
    const auto scanned = Scan(*file, leaves, options);
    ASSERT_TRUE(scanned.has_value()) << ToString(scanned.error());
    for (std::size_t i = 0; i < types.size(); ++i) {
      const auto wanted = arrow::Concatenate(table->column(static_cast<int>(i))->chunks()).ValueOrDie();
      ASSERT_EQ(scanned->columns[i], CellsOf(*wanted)) << types[i] << " in round " << round;
    }
    for (std::size_t row = 0; row < scanned->positions.size(); ++row) {
      ASSERT_EQ(scanned->positions[row], static_cast<std::int64_t>(row));
    }
  }
}

TEST(ColumnScan, WiderTypes_AreConverted) {
  const auto file = Opened(testing::WriteFile(testing::JsonTable({{"i", "int32", "[-1, null, 7]"},
                                                                  {"f", "float", "[0.5, null, -0.0]"},
                                                                  {"d", "decimal9", R"(["1.25", null, "-0.01"])"},
                                                                  {"t", "date", "[1, null, -1]"}})));
  parquet::SchemaElement decimal = Element(parquet::PhysicalType::kFixedLenByteArray, parquet::LogicalKind::kDecimal);
  decimal.type_length = 9;
  decimal.logical.precision = 20;
  decimal.logical.scale = 2;
  parquet::SchemaElement micros = Element(parquet::PhysicalType::kInt64, parquet::LogicalKind::kTimestamp);
  micros.logical.unit = parquet::TimeUnit::kMicros;
  const auto scanned = Scan(*file, {{0, Element(parquet::PhysicalType::kInt64), std::nullopt},
                                    {1, Element(parquet::PhysicalType::kDouble), std::nullopt},
                                    {2, decimal, std::nullopt},
                                    {3, micros, std::nullopt}});
  ASSERT_TRUE(scanned.has_value()) << ToString(scanned.error());
  const std::int64_t day = 86'400'000'000;
  EXPECT_EQ(scanned->columns[0], (Cells{Raw<std::int64_t>(-1), std::nullopt, Raw<std::int64_t>(7)}));
  EXPECT_EQ(scanned->columns[1], (Cells{Raw(0.5), std::nullopt, Raw(-0.0)}));
  EXPECT_EQ(scanned->columns[2], (Cells{Bytes{0, 0, 0, 0, 0, 0, 0, 0, 125}, std::nullopt, Bytes(9, 0xff)}));
  EXPECT_EQ(scanned->columns[3], (Cells{Raw(day), std::nullopt, Raw(-day)}));
}

Bytes WrittenColumn(const std::shared_ptr<arrow::Field>& field, const std::string& json) {
  const auto array = arrow::json::ArrayFromJSONString(field->type(), json).ValueOrDie();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto written = ::parquet::arrow::WriteTable(*arrow::Table::Make(arrow::schema({field}), {array}),
                                                    arrow::default_memory_pool(), sink, 3);
  EXPECT_TRUE(written.ok()) << written.ToString();
  const auto buffer = sink->Finish().ValueOrDie();
  return {buffer->data(), buffer->data() + buffer->size()};
}

TEST(ColumnScan, NestedLeaf_IsNullWhereAParentIs) {
  const auto inner = arrow::struct_({arrow::field("x", arrow::int32(), false), arrow::field("y", arrow::utf8())});
  const auto file = Opened(WrittenColumn(arrow::field("s", arrow::struct_({arrow::field("t", inner)})),
                                         R"([{"t": {"x": 1, "y": "a"}}, {"t": null}, null, {"t": {"x": 2}}])"));
  const auto scanned = Scan(*file, {Same(*file, 0), Same(*file, 1), {0, {}, 1}, {1, {}, 2}});
  ASSERT_TRUE(scanned.has_value()) << ToString(scanned.error());
  EXPECT_EQ(scanned->columns[0], (Cells{Raw<std::int32_t>(1), std::nullopt, std::nullopt, Raw<std::int32_t>(2)}));
  EXPECT_EQ(scanned->columns[1], (Cells{Bytes{'a'}, std::nullopt, std::nullopt, std::nullopt}));
  const auto is_there = [](const Cells& cells) {
    std::vector<bool> there;
    for (const auto& cell : cells) there.push_back(cell.has_value());
    return there;
  };
  EXPECT_EQ(is_there(scanned->columns[2]), (std::vector<bool>{true, true, false, true}));   // s
  EXPECT_EQ(is_there(scanned->columns[3]), (std::vector<bool>{true, false, false, true}));  // s.t
}

TEST(ColumnScan, PassedOverRowGroups_CountInPositions) {
  testing::FileChoice how;
  how.row_group_rows = 2;
  const auto file = Opened(testing::WriteFile(testing::JsonTable({{"i", "int64", "[0, 1, 2, 3, 4, 5, 6]"}}), how));
  ScanOptions options;
  options.wants_row_group = [&](const parquet::RowGroup& group) {
    return &group == &file->footer().row_groups[1] || &group == &file->footer().row_groups[3];
  };
  const auto scanned = Scan(*file, {Same(*file, 0)}, options);
  ASSERT_TRUE(scanned.has_value()) << ToString(scanned.error());
  EXPECT_EQ(scanned->positions, (std::vector<std::int64_t>{2, 3, 6}));
  EXPECT_EQ(scanned->columns[0], (Cells{Raw<std::int64_t>(2), Raw<std::int64_t>(3), Raw<std::int64_t>(6)}));
}

TEST(ColumnScan, EqualNeighbours_ShareTheirBytes) {
  testing::FileChoice how;
  how.dictionary = true;
  const auto file = Opened(testing::WriteFile(testing::JsonTable({{"p", "string", R"(["a","a",null,"a","b"])"}}), how));
  const auto scan = ColumnScan::Open(*file, {Same(*file, 0)}, {});
  ASSERT_TRUE(scan.has_value());
  ASSERT_EQ((*scan)->Next().value(), 5u);
  const auto slices = (*scan)->column(0).slices();
  EXPECT_EQ(slices[0], slices[1]);
  EXPECT_EQ(slices[1], slices[3]);
  EXPECT_NE(slices[3], slices[4]);
}

TEST(ColumnScan, WrongRequests_AreErrors) {
  const auto list = Opened(testing::WriteFile(testing::JsonTable({{"l", "list<int32>", "[[1, 2]]"}})));
  EXPECT_EQ(Scan(*list, {Same(*list, 0)}).error().code, Code::kUnsupported);
  const auto text = Opened(testing::WriteFile(testing::JsonTable({{"s", "string", R"(["a"])"}})));
  const auto as_number = Scan(*text, {{0, Element(parquet::PhysicalType::kInt64), std::nullopt}});
  EXPECT_EQ(as_number.error().code, Code::kUnsupported);
  EXPECT_THAT(as_number.error().message, HasSubstr("in.parquet: column s"));
  EXPECT_EQ(Scan(*text, {{1, Element(parquet::PhysicalType::kByteArray), std::nullopt}}).error().code,
            Code::kInvalidArgument);
}

TEST(ColumnScan, LongValues_AreLimited) {
  Random random(1);
  testing::TableChoice choice;
  choice.types = {"string"};
  choice.rows = 200000;
  choice.distinct = 0;
  choice.null_share = 0;
  testing::FileChoice how;
  how.dictionary = false;
  const auto file = Opened(testing::WriteFile(testing::RandomTable(choice, random), how));
  ScanOptions options;
  options.batch_rows = 200000;
  options.memory_bytes = 1 << 20;
  EXPECT_EQ(Scan(*file, {Same(*file, 0)}, options).error().code, Code::kLimit);
}

TEST(ColumnScan, SpoiledBytes_NeverCrash) {
  Random random(5);
  testing::TableChoice choice;
  choice.types = {"int64", "string", "fixed16"};
  choice.rows = 300;
  const Bytes good = testing::WriteFile(testing::RandomTable(choice, random));
  for (int round = 0; round < 300; ++round) {
    Bytes bad = good;
    for (int i = 0; i < 3; ++i) bad[random.Below(bad.size())] = static_cast<std::uint8_t>(random.Next());
    auto file = ScanFile::Open(std::make_unique<MemorySource>("in.parquet", bad));
    if (!file) continue;
    const std::size_t leaves = parquet::LeavesOf((*file)->footer().schema).size();
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      (void)Scan(**file, {Same(**file, static_cast<std::int32_t>(leaf))});
    }
  }
}

}  // namespace
}  // namespace firn::splice
