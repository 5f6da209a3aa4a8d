// SPDX-License-Identifier: Apache-2.0
#include "decide/partition_selection.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "decide/typed_literal.h"

namespace firn::decide {
namespace {

using iceberg::Literal;

/// A table with one spec a column and transform: spec ids as in kSpecs.
iceberg::MetadataPtr MakeMetadata() {
  const std::string columns = R"j([
    {"id":1,"name":"i","required":false,"type":"int"},     {"id":2,"name":"l","required":false,"type":"long"},
    {"id":3,"name":"s","required":false,"type":"string"},  {"id":4,"name":"d","required":false,"type":"date"},
    {"id":5,"name":"t","required":false,"type":"timestamp"}, {"id":6,"name":"z","required":false,"type":"timestamptz"},
    {"id":7,"name":"n","required":false,"type":"decimal(9,2)"}, {"id":8,"name":"f","required":false,"type":"double"},
    {"id":9,"name":"free","required":false,"type":"int"},  {"id":10,"name":"b","required":false,"type":"boolean"}])j";
  const std::vector<std::pair<int, std::string>> fields = {
      {1, "identity"},    {1, "bucket[4]"}, {1, "truncate[10]"}, {2, "truncate[100]"}, {3, "identity"},
      {3, "truncate[2]"}, {4, "day"},       {4, "month"},        {4, "year"},          {5, "hour"},
      {5, "day"},         {6, "month"},     {7, "truncate[50]"}, {8, "identity"},      {10, "identity"},
      {1, "void"},        {2, "zorder"}};
  std::string specs = R"([{"spec-id":0,"fields":[]})";
  int id = 0;
  for (const auto& [source, transform] : fields) {
    ++id;
    specs +=
        fmt::format(R"(,{{"spec-id":{},"fields":[{{"source-id":{},"field-id":{},"name":"p{}","transform":"{}"}}]}})",
                    id, source, 1000 + id, id, transform);
  }
  specs += "]";
  const std::string text = fmt::format(
      R"({{"format-version":2,"table-uuid":"u","location":"/t","last-sequence-number":0,"last-updated-ms":0,
      "last-column-id":10,"current-schema-id":0,"schemas":[{{"type":"struct","schema-id":0,"fields":{}}}],
      "default-spec-id":0,"partition-specs":{},"last-partition-id":1100,"default-sort-order-id":0,
      "sort-orders":[{{"order-id":0,"fields":[]}}]}})",
      columns, specs);
  auto metadata = iceberg::TableMetadata::Parse(AsBytes(text));
  EXPECT_TRUE(metadata.has_value()) << metadata.error().message;
  return std::make_shared<const iceberg::TableMetadata>(std::move(*metadata));
}

Result<PartitionSelection> Select(const std::string& where, const iceberg::MetadataPtr& metadata) {
  FIRN_ASSIGN(const Where parsed, ParseWhere(where));
  return PartitionSelection::Make(&parsed, {}, metadata);
}

/// The partition of a value in a spec with one field.
iceberg::PartitionTuple TupleOf(const iceberg::TableMetadata& metadata, int spec_id, const Literal& value) {
  const auto& field = metadata.FindSpec(SpecId{spec_id})->fields[0];
  auto projected = iceberg::Apply(field.transform, metadata.current_schema().FindField(field.source_id)->type, value);
  EXPECT_TRUE(projected.has_value());
  return {{*projected}};
}

TEST(PartitionSelection, SelectsByProjection) {
  const auto metadata = MakeMetadata();
  struct Case {
    int spec;
    Literal value;  // of the source column
    std::string where;
    bool selected;
  };
  const Literal day = std::int32_t{19723};  // 2024-01-01
  const Literal noon = std::int64_t{19723} * 86'400'000'000 + 43'200'000'000;
  const std::vector<Case> cases = {
      {1, std::int32_t{5}, "i = 5", true},
      {1, std::int32_t{5}, "i <> 5", false},
      {1, std::int32_t{5}, "i < 5", false},
      {1, std::int32_t{5}, "i <= 5", true},
      {1, std::int32_t{5}, "i in (1, 2)", false},
      {1, std::int32_t{5}, "not (i in (1, 2))", true},
      {1, std::int32_t{5}, "i between 4 and 6 and i not between 5 and 9", false},
      {1, Literal(), "i is null", true},
      {1, Literal(), "i = 5 or i <> 5", false},
      {1, std::int32_t{5}, "i is null", false},
      {1, std::int32_t{5}, "i is not null", true},
      {2, std::int32_t{5}, "i = 5", true},
      {2, std::int32_t{5}, "i > 1000", true},
      {3, std::int32_t{25}, "i > 29", false},
      {3, std::int32_t{25}, "i >= 29", true},
      {3, std::int32_t{25}, "i < 20", false},
      {3, std::int32_t{25}, "i < 21", true},
      {3, std::int32_t{25}, "i <> 25", true},
      {3, std::int32_t{-5}, "i = -10", true},
      {5, std::string("eu"), "s = 'eu'", true},
      {5, std::string("eu"), "s > 'eu'", false},
      {6, std::string("hello"), "s = 'help'", true},
      {6, std::string("hello"), "s < 'he'", true},
      {6, std::string("hello"), "s < 'hd'", false},
      {7, day, "d = '2024-01-01'", true},
      {7, day, "d > DATE '2024-01-01'", false},
      {8, day, "d >= '2024-02-01'", false},
      {8, day, "d > '2024-01-30'", true},
      {8, day, "d > '2024-01-31'", false},
      {9, day, "d < '2024-01-01'", false},
      {9, day, "d < '2024-01-02'", true},
      {10, noon, "t >= '2024-01-01 13:00:00'", false},
      {10, noon, "t >= '2024-01-01 12:59:59.999999'", true},
      {11, noon, "t < '2024-01-01'", false},
      {11, noon, "t < '2024-01-01 00:00:00.000001'", true},
      {12, noon, "z >= '2024-02-01T00:00+02:00'", true},
      {12, noon, "z >= '2024-02-01'", false},
      {13, iceberg::Decimal{1234}, "n >= 12.50", false},
      {13, iceberg::Decimal{1234}, "n >= 12.49", true},
      {14, -0.0, "f = 0", true},
      {14, -0.0, "f >= 0.0", true},
      {14, 2.5, "f > 2.5", false},
      {15, true, "b = false", false},
      {16, std::int32_t{5}, "i = 7", true},  // void
      {0, std::int32_t{5}, "i = 7", true},   // a spec without the field
      {1, std::int32_t{5}, "true", true},
      {1, std::int32_t{5}, "false or i = 6", false},
  };
  for (const auto& c : cases) {
    auto selection = Select(c.where, metadata);
    ASSERT_TRUE(selection.has_value()) << c.where << ": " << selection.error().message;
    const auto tuple = c.spec == 0 ? iceberg::PartitionTuple{} : TupleOf(*metadata, c.spec, c.value);
    EXPECT_EQ(selection->Matches(SpecId{c.spec}, tuple), c.selected) << "spec " << c.spec << ": " << c.where;
  }
  // An unknown transform cannot be judged.
  EXPECT_TRUE(Select("l = 3", metadata)->Matches(SpecId{17}, {{std::string("?")}}));
}

TEST(PartitionSelection, BeforeTheEpoch_FilesOfOldWritersAreSelected) {
  const auto metadata = MakeMetadata();
  // 1969-12-15 is month -1; old writers rounded to 0.
  const auto selection = Select("d = '1969-12-15'", metadata);
  EXPECT_TRUE(selection->Matches(SpecId{8}, {{std::int32_t{-1}}}));
  EXPECT_TRUE(selection->Matches(SpecId{8}, {{std::int32_t{0}}}));
  EXPECT_FALSE(selection->Matches(SpecId{8}, {{std::int32_t{1}}}));
}

TEST(PartitionSelection, BadConditions_AreRefused) {
  const auto metadata = MakeMetadata();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nope = 1", "the table has no column `nope`"},
      {"free = 1", "no partition is made from column `free`"},
      {"p1 = 1", "`p1` is a partition field, not a column"},
      {"i = 'x'", "column i: 'x' is not a value of type int"},
      {"i = 1.5", "column i: 1.5 is not a value of type int"},
      {"i = 3000000000", "column i: 3000000000 is not a value of type int"},
      {"d = '2024-02-30'", "column d: '2024-02-30' is not a value of type date"},
      {"t = '2024-01-01T00:00Z'", "is not a value of type timestamp"},
      {"n = 1.234", "is not a value of type decimal(9,2)"},
      {"b = 1", "column b: 1 is not a value of type boolean"},
  };
  for (const auto& [where, message] : cases) {
    auto selection = Select(where, metadata);
    ASSERT_FALSE(selection.has_value()) << where;
    EXPECT_EQ(selection.error().code, Code::kInvalidArgument);
    EXPECT_NE(selection.error().message.find(message), std::string::npos) << selection.error().message;
  }
}

TEST(PartitionSelection, PartitionTexts) {
  const auto metadata = MakeMetadata();
  auto selection = PartitionSelection::Make(nullptr, {"p7=2024-01-01", "p5=a/b"}, metadata);
  ASSERT_TRUE(selection.has_value());
  EXPECT_FALSE(selection->selects_everything());
  EXPECT_TRUE(selection->Matches(SpecId{7}, {{std::int32_t{19723}}}));
  EXPECT_FALSE(selection->Matches(SpecId{7}, {{std::int32_t{19724}}}));
  EXPECT_TRUE(selection->Matches(SpecId{5}, {{std::string("a/b")}}));
  EXPECT_FALSE(selection->Matches(SpecId{0}, {}));
  EXPECT_FALSE(PartitionSelection::Make(nullptr, {"nope=1"}, metadata).has_value());
  EXPECT_FALSE(PartitionSelection::Make(nullptr, {"p7"}, metadata).has_value());
  EXPECT_TRUE(PartitionSelection::Make(nullptr, {}, metadata)->selects_everything());
}

TEST(PartitionSelection, RandomRows_NeverLeaveOutTheirPartition) {
  const auto metadata = MakeMetadata();
  struct Column {
    std::string name;
    std::vector<int> specs;
    FieldId id;
  };
  const std::vector<Column> columns = {
      {"i", {1, 2, 3}, 1}, {"l", {4}, 2}, {"d", {7, 8, 9}, 4}, {"t", {10, 11}, 5}, {"n", {13}, 7}};
  static constexpr const char* kSigns[] = {"=", "<>", "<", "<=", ">", ">="};
  int left_out = 0;
  Random random(11);
  const auto number = [&] { return static_cast<std::int64_t>(random.Below(120)) - 60; };
  const auto text = [](const Column& c, std::int64_t n) -> std::string {
    if (c.name == "d")
      return fmt::format("'{}'", iceberg::ToText({.kind = iceberg::TypeKind::kDate}, static_cast<std::int32_t>(n)));
    if (c.name == "t")
      return fmt::format("'{}'", iceberg::ToText({.kind = iceberg::TypeKind::kTimestamp}, n * 1'700'000'000));
    if (c.name == "n") return fmt::format("{}{}.{:02}", n < 0 ? "-" : "", std::abs(n) / 100, std::abs(n) % 100);
    return fmt::format("{}", n);
  };
  const auto holds = [](int sign, std::int64_t a, std::int64_t b) {
    return sign == 0   ? a == b
           : sign == 1 ? a != b
           : sign == 2 ? a < b
           : sign == 3 ? a <= b
           : sign == 4 ? a > b
                       : a >= b;
  };
  for (int round = 0; round < 20'000; ++round) {
    const Column& column = columns[random.Below(columns.size())];
    const int spec = column.specs[random.Below(column.specs.size())];
    const std::int64_t value = number(), first = number(), second = number();
    const auto sign_a = random.Below(6), sign_b = random.Below(6);
    const bool is_or = random.Below(2) == 0, negated = random.Below(2) == 0;
    const bool a = holds(static_cast<int>(sign_a), value, first), b = holds(static_cast<int>(sign_b), value, second);
    const bool matches = (is_or ? a || b : a && b) != negated;
    const std::string where =
        fmt::format("{}({} {} {} {} {} {} {})", negated ? "not " : "", column.name, kSigns[sign_a], text(column, first),
                    is_or ? "or" : "and", column.name, kSigns[sign_b], text(column, second));
    auto selection = Select(where, metadata);
    ASSERT_TRUE(selection.has_value()) << where << ": " << selection.error().message;
    auto literal = TypeLiteral(
        {column.name == "d" || column.name == "t" ? WhereLiteral::Kind::kString : WhereLiteral::Kind::kNumber,
         column.name == "d" || column.name == "t" ? text(column, value).substr(1, text(column, value).size() - 2)
                                                  : text(column, value)},
        metadata->current_schema().FindField(column.id)->type);
    ASSERT_TRUE(literal.has_value());
    const bool selected = selection->Matches(SpecId{spec}, TupleOf(*metadata, spec, *literal));
    EXPECT_TRUE(selected || !matches) << where << " value " << value << " spec " << spec;
    left_out += !selected;
  }
  EXPECT_GT(left_out, 4000);
}

}  // namespace
}  // namespace firn::decide
