// SPDX-License-Identifier: Apache-2.0
// What a footer of 16 columns costs: a merge of thousands of small files parses one each.
#include <benchmark/benchmark.h>

#include <string>

#include "format/parquet/footer.h"

namespace firn::parquet {
namespace {

FileMetaData Metadata(int columns) {
  FileMetaData metadata;
  metadata.num_rows = 1000;
  SchemaElement root;
  root.name = "table";
  root.num_children = columns;
  metadata.schema.push_back(root);
  RowGroup& group = metadata.row_groups.emplace_back();
  group.num_rows = 1000;
  group.file_offset = 4;
  group.ordinal = std::int16_t{0};
  for (int i = 0; i < columns; ++i) {
    SchemaElement element;
    element.name = "l_column_number_" + std::to_string(i);
    element.type = PhysicalType::kByteArray;
    element.repetition = Repetition::kOptional;
    element.field_id = i + 1;
    element.logical.kind = LogicalKind::kString;
    metadata.schema.push_back(element);
    ColumnChunk& chunk = group.columns.emplace_back();
    ColumnMetaData& meta = chunk.meta.emplace();
    meta.type = PhysicalType::kByteArray;
    meta.path_in_schema = {element.name};
    meta.encodings = {Encoding::kPlain, Encoding::kRle, Encoding::kRleDictionary};
    meta.codec = Codec::kZstd;
    meta.num_values = 1000;
    meta.total_compressed_size = meta.total_uncompressed_size = 900;
    meta.dictionary_page_offset = 4 + i * 1000;
    meta.data_page_offset = 104 + i * 1000;
    Statistics& statistics = meta.statistics.emplace();
    statistics.null_count = 3;
    statistics.min_value = Bytes(12, 'a');
    statistics.max_value = Bytes(12, 'z');
    meta.encoding_stats = {{PageType::kDictionary, Encoding::kPlain, 1},
                           {PageType::kData, Encoding::kRleDictionary, 1}};
    meta.size_statistics = SizeStatistics{4000, {}, {3, 997}};
    metadata.column_orders.push_back(ColumnOrder::kTypeDefined);
  }
  metadata.key_value_metadata = {{"iceberg.schema", std::string(2000, 'x')}};
  metadata.created_by = "parquet-mr version 1.17.1 (build 78a8d32)";
  return metadata;
}

void ParseFooterOf(benchmark::State& state) {
  const Bytes footer = WriteFooter(Metadata(static_cast<int>(state.range(0))));
  const ByteView thrift = ByteView(footer).first(footer.size() - 8);
  for (auto _ : state) {
    Result<FileMetaData> parsed = ParseFooter(thrift, 1 << 30);
    if (!parsed) state.SkipWithError(parsed.error().message.c_str());
    benchmark::DoNotOptimize(parsed);
  }
}
BENCHMARK(ParseFooterOf)->Arg(16)->Arg(1000);

void WriteFooterOf(benchmark::State& state) {
  const FileMetaData metadata = Metadata(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(WriteFooter(metadata));
}
BENCHMARK(WriteFooterOf)->Arg(16);

void ParsePageHeaders(benchmark::State& state) {
  PageHeader header;
  header.num_values = 1000;
  header.uncompressed_size = header.compressed_size = 5000;
  header.statistics.emplace().null_count = 0;
  Bytes bytes;
  WritePageHeader(header, bytes);
  for (auto _ : state) benchmark::DoNotOptimize(ParsePageHeader(bytes));
}
BENCHMARK(ParsePageHeaders);

}  // namespace
}  // namespace firn::parquet
