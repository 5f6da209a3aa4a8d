// SPDX-License-Identifier: Apache-2.0
#include "splice/arrow_tables_test.h"

#include <arrow/api.h>
#include <arrow/compare.h>
#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>

#include <map>

#include "format/parquet/footer.h"

namespace firn::splice::testing {

namespace {

template <class T>
T Must(arrow::Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return std::move(result).ValueOrDie();
}

const std::map<std::string, std::shared_ptr<arrow::DataType>>& Types() {
  static const std::map<std::string, std::shared_ptr<arrow::DataType>> types = {
      {"bool", arrow::boolean()},
      {"int8", arrow::int8()},
      {"int32", arrow::int32()},
      {"uint32", arrow::uint32()},
      {"int64", arrow::int64()},
      {"uint64", arrow::uint64()},
      {"float16", arrow::float16()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"string", arrow::utf8()},
      {"binary", arrow::binary()},
      {"fixed16", arrow::fixed_size_binary(16)},
      {"fixed3", arrow::fixed_size_binary(3)},
      {"decimal9", arrow::decimal128(9, 2)},
      {"decimal38", arrow::decimal128(38, 10)},
      {"date", arrow::date32()},
      {"time", arrow::time64(arrow::TimeUnit::MICRO)},
      {"timestamp", arrow::timestamp(arrow::TimeUnit::MICRO)},
      {"timestamptz", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")},
      {"list<int32>", arrow::list(arrow::int32())},
      {"list<string>", arrow::list(arrow::utf8())},
      {"list<list<int64>>", arrow::list(arrow::list(arrow::int64()))},
      {"struct", arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::utf8())})},
      {"variant",
       arrow::struct_({arrow::field("metadata", arrow::binary(), false), arrow::field("value", arrow::binary())})},
      {"list<struct>", arrow::list(arrow::struct_(
                           {arrow::field("x", arrow::int64()), arrow::field("y", arrow::list(arrow::float64()))}))},
      {"map<string,int32>", arrow::map(arrow::utf8(), arrow::int32())},
  };
  return types;
}

/// One value of a flat type as number `n` of its values: distinct numbers give distinct values where the type allows.
std::shared_ptr<arrow::Scalar> ScalarOf(const std::shared_ptr<arrow::DataType>& type, std::int64_t n) {
  const auto text = [n] {
    std::string value = n % 13 == 0 ? "" : std::string("value-") + std::to_string(n);
    for (std::int64_t i = 0; i < n % 7; ++i) value += "+";
    return value;
  };
  switch (type->id()) {
    case arrow::Type::BOOL: return std::make_shared<arrow::BooleanScalar>(n % 3 == 0);
    case arrow::Type::HALF_FLOAT: {
      constexpr std::uint16_t kValues[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7e00, 0x7c00, 0x5640, 0x0001};
      return std::make_shared<arrow::HalfFloatScalar>(kValues[n % 8]);
    }
    case arrow::Type::FLOAT: {
      const float value = n % 11 == 0   ? -0.0F
                          : n % 11 == 5 ? std::numeric_limits<float>::quiet_NaN()
                                        : static_cast<float>(n) * 0.5F - 3;
      return std::make_shared<arrow::FloatScalar>(value);
    }
    case arrow::Type::DOUBLE:
      return std::make_shared<arrow::DoubleScalar>(n % 11 == 0   ? -0.0
                                                   : n % 11 == 5 ? std::numeric_limits<double>::infinity()
                                                                 : static_cast<double>(n) * 0.25 - 7);
    case arrow::Type::STRING: return std::make_shared<arrow::StringScalar>(text());
    case arrow::Type::BINARY: return std::make_shared<arrow::BinaryScalar>(text());
    case arrow::Type::FIXED_SIZE_BINARY: {
      const int width = static_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width();
      std::string bytes(static_cast<std::size_t>(width), '\0');
      for (std::size_t i = 0; i < bytes.size() && i < 8; ++i) bytes[i] = static_cast<char>(n >> (i * 8));
      return std::make_shared<arrow::FixedSizeBinaryScalar>(arrow::Buffer::FromString(bytes), type);
    }
    case arrow::Type::DECIMAL128:
      return std::make_shared<arrow::Decimal128Scalar>(arrow::Decimal128(n % 2 == 0 ? n : -n), type);
    default:
      return Must(arrow::MakeScalar(type, n % 2 == 0 || type->id() == arrow::Type::UINT64 ||
                                                  type->id() == arrow::Type::UINT32 || type->id() == arrow::Type::TIME64
                                              ? n
                                              : -n));
  }
}

void AppendRandom(arrow::ArrayBuilder& builder, const TableChoice& choice, std::int64_t row, Random& random);

void AppendList(arrow::ArrayBuilder& values, const TableChoice& choice, std::int64_t row, Random& random) {
  const std::uint64_t count = random.Below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    AppendRandom(values, choice, row * 5 + static_cast<std::int64_t>(i), random);
  }
}

void AppendRandom(arrow::ArrayBuilder& builder, const TableChoice& choice, std::int64_t row, Random& random) {
  if (random.NextUnit() < choice.null_share) {
    EXPECT_TRUE(builder.AppendNull().ok());
    return;
  }
  switch (builder.type()->id()) {
    case arrow::Type::LIST: {
      auto& list = static_cast<arrow::ListBuilder&>(builder);
      EXPECT_TRUE(list.Append().ok());
      AppendList(*list.value_builder(), choice, row, random);
      return;
    }
    case arrow::Type::STRUCT: {
      auto& group = static_cast<arrow::StructBuilder&>(builder);
      EXPECT_TRUE(group.Append().ok());
      for (int i = 0; i < group.num_fields(); ++i) AppendRandom(*group.field_builder(i), choice, row, random);
      return;
    }
    case arrow::Type::MAP: {
      auto& map = static_cast<arrow::MapBuilder&>(builder);
      EXPECT_TRUE(map.Append().ok());
      const std::uint64_t count = random.Below(4);
      TableChoice keys = choice;
      keys.null_share = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        AppendRandom(*map.key_builder(), keys, row, random);
        AppendRandom(*map.item_builder(), choice, row, random);
      }
      return;
    }
    default: break;
  }
  const std::int64_t number =
      choice.first_value + (choice.distinct == 0
                                ? row
                                : static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(choice.distinct))));
  const bool narrow = builder.type()->id() == arrow::Type::INT8;
  EXPECT_TRUE(builder.AppendScalar(*ScalarOf(builder.type(), narrow ? number % 100 : number)).ok());
}

arrow::Compression::type CompressionOf(parquet::Codec codec) {
  switch (codec) {
    case parquet::Codec::kUncompressed: return arrow::Compression::UNCOMPRESSED;
    case parquet::Codec::kSnappy: return arrow::Compression::SNAPPY;
    case parquet::Codec::kGzip: return arrow::Compression::GZIP;
    case parquet::Codec::kBrotli: return arrow::Compression::BROTLI;
    case parquet::Codec::kLz4Raw: return arrow::Compression::LZ4;
    default: return arrow::Compression::ZSTD;
  }
}

template <class Index>
std::optional<ByteView> IndexBytes(const Bytes& file, std::optional<std::int64_t> offset, Index length) {
  if (!offset || !length) return std::nullopt;
  return ByteView(file).subspan(static_cast<std::size_t>(*offset), static_cast<std::size_t>(*length));
}

}  // namespace

std::vector<std::string> FlatTypeNames() {
  return {"bool",      "int8",   "int32",  "uint32",    "int64",      "uint64",  "float16",
          "float",     "double", "string", "binary",    "fixed3",     "fixed16", "decimal9",
          "decimal38", "date",   "time",   "timestamp", "timestamptz"};
}

std::vector<std::string> NestedTypeNames() {
  return {"list<int32>", "list<string>", "list<list<int64>>", "struct", "list<struct>", "map<string,int32>"};
}

TablePtr RandomTable(const TableChoice& choice, Random& random) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (std::size_t i = 0; i < choice.types.size(); ++i) {
    const auto& type = Types().at(choice.types[i]);
    fields.push_back(arrow::field("c" + std::to_string(i), type, choice.null_share > 0));
    auto builder = Must(arrow::MakeBuilder(type));
    for (std::int64_t row = 0; row < choice.rows; ++row) AppendRandom(*builder, choice, row, random);
    columns.push_back(Must(builder->Finish()));
  }
  return arrow::Table::Make(arrow::schema(fields), columns, choice.rows);
}

TablePtr SeededTable(std::vector<std::string> types, std::int64_t rows, std::int64_t distinct, std::uint64_t seed,
                     double nulls, std::int64_t first_value) {
  Random random(seed);
  const TableChoice choice{std::move(types), rows, nulls, distinct, first_value};
  return RandomTable(choice, random);
}

TablePtr JsonTable(const std::vector<JsonColumn>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const JsonColumn& column : columns) {
    const bool required = column.type.ends_with('!');
    const auto& type = Types().at(required ? column.type.substr(0, column.type.size() - 1) : column.type);
    fields.push_back(arrow::field(column.name, type, !required));
    arrays.push_back(Must(arrow::json::ArrayFromJSONString(type, column.json)));
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

Bytes WriteFile(const TablePtr& table, const FileChoice& choice) {
  ::parquet::WriterProperties::Builder builder;
  builder.compression(CompressionOf(choice.codec))->enable_store_decimal_as_integer();
  builder.data_page_version(choice.v2 ? ::parquet::ParquetDataPageVersion::V2 : ::parquet::ParquetDataPageVersion::V1);
  choice.dictionary ? builder.enable_dictionary() : builder.disable_dictionary();
  choice.page_index ? builder.enable_write_page_index() : builder.disable_write_page_index();
  choice.statistics ? builder.enable_statistics() : builder.disable_statistics();
  if (choice.crc) builder.enable_page_checksum();
  if (choice.encoding) builder.encoding(static_cast<::parquet::Encoding::type>(*choice.encoding));
  if (!choice.created_by.empty()) builder.created_by(choice.created_by);
  builder.max_rows_per_page(choice.page_rows)->data_pagesize(choice.page_bytes)->write_batch_size(64);
  builder.dictionary_pagesize_limit(choice.dictionary_bytes);
  ::parquet::ArrowWriterProperties::Builder arrow_builder;
  if (choice.int96) arrow_builder.enable_deprecated_int96_timestamps();
  if (choice.store_schema) arrow_builder.store_schema();
  if (choice.bloom_fpp) {
    std::shared_ptr<::parquet::SchemaDescriptor> schema;
    EXPECT_TRUE(
        ::parquet::arrow::ToParquetSchema(table->schema().get(), *builder.build(), *arrow_builder.build(), &schema)
            .ok());
    for (int i = 0; i < schema->num_columns(); ++i) {
      if (schema->Column(i)->physical_type() == ::parquet::Type::BOOLEAN) continue;
      builder.enable_bloom_filter(schema->Column(i)->path(), {.ndv = std::nullopt, .fpp = *choice.bloom_fpp});
    }
  }
  const auto sink = Must(arrow::io::BufferOutputStream::Create());
  const arrow::Status written = ::parquet::arrow::WriteTable(
      *table, arrow::default_memory_pool(), sink, choice.row_group_rows, builder.build(), arrow_builder.build());
  EXPECT_TRUE(written.ok()) << written.ToString();
  const auto buffer = Must(sink->Finish());
  return {buffer->data(), buffer->data() + buffer->size()};
}

Result<TablePtr> TryReadFile(const Bytes& file) {
  // Damaged files may ask for anything.
  arrow::CappedMemoryPool pool(arrow::default_memory_pool(), std::int64_t{1} << 28);
  ::parquet::ReaderProperties properties(&pool);
  properties.set_page_checksum_verification(true);
  ::parquet::arrow::FileReaderBuilder builder;
  const auto buffer = std::make_shared<arrow::Buffer>(file.data(), static_cast<std::int64_t>(file.size()));
  const arrow::Status opened = builder.Open(std::make_shared<arrow::io::BufferReader>(buffer), properties);
  if (!opened.ok()) return Error{Code::kCorrupt, opened.ToString()};
  auto reader = builder.Build();
  if (!reader.ok()) return Error{Code::kCorrupt, reader.status().ToString()};
  auto table = (*reader)->ReadTable();
  if (!table.ok()) return Error{Code::kCorrupt, table.status().ToString()};
  return std::move(*table);
}

TablePtr ReadFile(const Bytes& file) {
  Result<TablePtr> table = TryReadFile(file);
  EXPECT_TRUE(table) << table.error().message;
  return table ? *table : nullptr;
}

bool SameTypes(const TablePtr& a, const TablePtr& b) {
  const auto nullable = [](const TablePtr& table) {
    arrow::FieldVector fields;
    for (const auto& field : table->schema()->fields()) fields.push_back(field->WithNullable(true));
    return arrow::schema(fields);
  };
  return nullable(a)->Equals(*nullable(b), false);
}

std::int64_t RowsOf(const TablePtr& table) { return table->num_rows(); }

std::vector<TablePtr> WithoutRows(const TablePtr& table, const DeletedRows& deleted) {
  std::vector<TablePtr> slices;
  std::int64_t at = 0;
  const auto keep_until = [&](std::int64_t end) {
    if (end > at) slices.push_back(table->Slice(at, end - at));
  };
  deleted.VisitDeleted(0, table->num_rows(), [&](std::int64_t begin, std::int64_t end) {
    keep_until(begin);
    at = end;
  });
  keep_until(table->num_rows());
  if (slices.empty()) slices.push_back(table->Slice(0, 0));
  return slices;
}

TablePtr Joined(const std::vector<TablePtr>& tables) {
  return Must(Must(arrow::ConcatenateTables(tables))->CombineChunks());
}

TablePtr Widened(const TablePtr& table) {
  TablePtr wide = table;
  for (int c = 0; c < table->num_columns(); ++c) {
    if (table->field(c)->type()->id() != arrow::Type::INT32) continue;
    arrow::Int64Builder builder;
    for (const auto& chunk : table->column(c)->chunks()) {
      const auto& numbers = static_cast<const arrow::Int32Array&>(*chunk);
      for (std::int64_t i = 0; i < numbers.length(); ++i) {
        EXPECT_TRUE((numbers.IsNull(i) ? builder.AppendNull() : builder.Append(numbers.Value(i))).ok());
      }
    }
    const auto column = std::make_shared<arrow::ChunkedArray>(Must(builder.Finish()));
    wide = Must(wide->SetColumn(c, arrow::field(table->field(c)->name(), arrow::int64()), column));
  }
  return wide;
}

std::vector<std::optional<std::int64_t>> LongsOf(const TablePtr& table, const std::string& name) {
  std::vector<std::optional<std::int64_t>> values;
  const auto column = table->GetColumnByName(name);
  if (column == nullptr || column->type()->id() != arrow::Type::INT64) return values;
  for (const auto& chunk : column->chunks()) {
    const auto& longs = static_cast<const arrow::Int64Array&>(*chunk);
    for (std::int64_t i = 0; i < longs.length(); ++i) {
      values.push_back(longs.IsNull(i) ? std::nullopt : std::optional(longs.Value(i)));
    }
  }
  return values;
}

TablePtr WithLongs(const TablePtr& table, const std::string& name,
                   const std::vector<std::optional<std::int64_t>>& values) {
  arrow::Int64Builder builder;
  for (const std::optional<std::int64_t>& value : values) {
    EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  }
  const auto column = std::make_shared<arrow::ChunkedArray>(Must(builder.Finish()));
  return Must(table->AddColumn(table->num_columns(), arrow::field(name, arrow::int64(), true), column));
}

Input InputOf(const std::string& name, Bytes file) {
  Input input;
  input.source = std::make_shared<MemorySource>(name, std::move(file));
  return input;
}

Result<Spliced> SpliceFiles(const std::vector<Input>& inputs, const Options& options) {
  MemorySink sink("out");
  Spliced spliced;
  FIRN_ASSIGN(spliced.report, Splice(inputs, options, sink));
  spliced.file = std::move(sink.bytes());
  MemorySource output("out", spliced.file);
  FIRN_TRY(Verify(output, spliced.report).In("verify"));
  return spliced;
}

Spliced MustSplice(const std::vector<Input>& inputs, const Options& options) {
  Result<Spliced> spliced = SpliceFiles(inputs, options);
  EXPECT_TRUE(spliced) << ToString(spliced.error());
  return spliced ? std::move(*spliced) : Spliced();
}

std::string DifferenceOf(const std::vector<TablePtr>& tables, const Bytes& output) {
  const TablePtr read = ReadFile(output);
  if (read == nullptr) return "the output cannot be read";
  std::vector<TablePtr> same_names;
  for (const TablePtr& table : tables) same_names.push_back(table->ReplaceSchemaMetadata(nullptr));
  arrow::ConcatenateTablesOptions unify;
  unify.unify_schemas = true;
  const TablePtr expected = Must(arrow::ConcatenateTables(same_names, unify));
  if (expected->num_rows() != read->num_rows()) {
    return std::to_string(read->num_rows()) + " rows instead of " + std::to_string(expected->num_rows());
  }
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  for (int i = 0; i < expected->num_columns(); ++i) {
    const auto& name = expected->field(i)->name();
    const auto column = read->GetColumnByName(name);
    if (column == nullptr) return "column " + name + " is missing";
    if (!column->Equals(*expected->column(i), equal)) return "column " + name + " differs";
  }
  return {};
}

parquet::FileMetaData FooterOf(const Bytes& file) {
  MemorySource source("file", file);
  return parquet::ReadFooter(source).value();
}

std::optional<parquet::ColumnIndex> ColumnIndexOf(const Bytes& file, std::size_t row_group, std::size_t leaf) {
  const parquet::ColumnChunk chunk = FooterOf(file).row_groups[row_group].columns[leaf];
  const auto offsets = OffsetIndexOf(file, row_group, leaf);
  const auto bytes = IndexBytes(file, chunk.column_index_offset, chunk.column_index_length);
  if (!bytes || !offsets) return std::nullopt;
  return parquet::ParseColumnIndex(*bytes, offsets->pages.size()).value();
}

std::optional<parquet::OffsetIndex> OffsetIndexOf(const Bytes& file, std::size_t row_group, std::size_t leaf) {
  const parquet::ColumnChunk chunk = FooterOf(file).row_groups[row_group].columns[leaf];
  const auto bytes = IndexBytes(file, chunk.offset_index_offset, chunk.offset_index_length);
  if (!bytes) return std::nullopt;
  return parquet::ParseOffsetIndex(*bytes).value();
}

}  // namespace firn::splice::testing
