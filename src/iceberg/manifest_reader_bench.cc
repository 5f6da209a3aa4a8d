// SPDX-License-Identifier: Apache-2.0
// How many manifest entries a second one core reads: for planning (metrics of 16 columns passed over) and in full.
#include <benchmark/benchmark.h>

#include <string>

#include "iceberg/manifest_reader.h"
#include "iceberg/manifest_writer.h"

namespace firn::iceberg {
namespace {

constexpr std::int64_t kEntries = 20'000;
constexpr int kColumns = 16;

TableMetadata Metadata() {
  std::string fields = R"({"id":1,"name":"day","required":false,"type":"date"})";
  for (int i = 2; i <= kColumns; ++i) {
    fields +=
        R"(,{"id":)" + std::to_string(i) + R"(,"name":"c)" + std::to_string(i) + R"(","required":false,"type":"long"})";
  }
  const std::string text = R"({"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",)"
                           R"("location":"s3://bucket/warehouse/db/table","last-sequence-number":9,)"
                           R"("last-updated-ms":1,"last-column-id":16,"current-schema-id":0,"schemas":[)"
                           R"({"type":"struct","schema-id":0,"fields":[)" +
                           fields +
                           R"(]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[)"
                           R"({"name":"day","transform":"identity","source-id":1,"field-id":1000}]}],)"
                           R"("last-partition-id":1000,"default-sort-order-id":0,)"
                           R"("sort-orders":[{"order-id":0,"fields":[]}],"properties":{}})";
  auto metadata = TableMetadata::Parse(AsBytes(text));
  if (!metadata) throw std::runtime_error(ToString(metadata.error()));
  return std::move(*metadata);
}

ManifestEntry Entry(std::int64_t i) {
  ManifestEntry entry;
  entry.status = EntryStatus::kAdded;
  DataFile& file = entry.file;
  const auto noise = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL;
  char name[64];
  std::snprintf(name, sizeof name, "%05lld-%lld-%016llx-00001.parquet", static_cast<long long>(i),
                static_cast<long long>(i * 7), static_cast<unsigned long long>(noise));
  file.file_path = "s3://bucket/warehouse/db/table/data/day=2024-05-17/" + std::string(name);
  file.format_text = "PARQUET";
  file.partition.values = {static_cast<std::int32_t>(19860 + i / 500)};
  file.record_count = 1000 + static_cast<std::int64_t>(noise % 5000);
  file.file_size_bytes = 110'000 + static_cast<std::int64_t>(noise % 30'000);
  for (FieldId id = 1; id <= kColumns; ++id) {
    file.column_sizes.emplace_back(id, 4000 + static_cast<std::int64_t>((noise >> id) % 4000));
    file.value_counts.emplace_back(id, file.record_count);
    file.null_value_counts.emplace_back(id, 0);
    Bytes bound(8);
    StoreLittle(bound.data(), noise >> id);
    file.lower_bounds.emplace_back(id, bound);
    file.upper_bounds.emplace_back(id, bound);
  }
  file.split_offsets = {4};
  file.sort_order_id = SortOrderId(0);
  return entry;
}

struct Written {
  Bytes bytes;
  ManifestFile line;
};

Written Write(const TableMetadata& metadata, const std::string& codec) {
  MemorySink sink("manifest.avro");
  auto writer = ManifestWriter::Make(sink, metadata, {.snapshot_id = SnapshotId(7), .codec = codec});
  for (std::int64_t i = 0; i < kEntries; ++i) {
    if (!(*writer)->Add(Entry(i))) throw std::runtime_error("entry was refused");
  }
  auto line = (*writer)->Finish();
  line->sequence_number = SequenceNumber(9);
  return {std::move(sink.bytes()), *line};
}

void Read(benchmark::State& state, const std::string& codec, Wanted wanted) {
  const TableMetadata metadata = Metadata();
  Written written = Write(metadata, codec);
  MemorySource bytes("manifest.avro", std::move(written.bytes));
  ManifestEntry entry;
  for (auto _ : state) {
    SourceStream stream(bytes);
    auto reader = ManifestReader::Open(stream, written.line, metadata, wanted);
    std::int64_t count = 0;
    while (true) {
      const auto more = (*reader)->Next(entry);
      if (!more) state.SkipWithError(more.error().message.c_str());
      if (!more || !*more) break;
      ++count;
    }
    if (count != kEntries) state.SkipWithError("entries are missing");
  }
  state.counters["entries/s"] =
      benchmark::Counter(static_cast<double>(kEntries * state.iterations()), benchmark::Counter::kIsRate);
  state.counters["bytes/entry"] = static_cast<double>(written.line.manifest_length) / static_cast<double>(kEntries);
}

void WriteAll(benchmark::State& state, const std::string& codec) {
  const TableMetadata metadata = Metadata();
  for (auto _ : state) benchmark::DoNotOptimize(Write(metadata, codec).bytes.data());
  state.counters["entries/s"] =
      benchmark::Counter(static_cast<double>(kEntries * state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(Read, planning_null, "null", Wanted::planning());
BENCHMARK_CAPTURE(Read, planning_deflate, "deflate", Wanted::planning());
BENCHMARK_CAPTURE(Read, planning_zstd, "zstd", Wanted::planning());
BENCHMARK_CAPTURE(Read, planning_snappy, "snappy", Wanted::planning());
BENCHMARK_CAPTURE(Read, everything_null, "null", Wanted::everything());
BENCHMARK_CAPTURE(Read, everything_deflate, "deflate", Wanted::everything());
BENCHMARK_CAPTURE(WriteAll, null, "null");
BENCHMARK_CAPTURE(WriteAll, deflate, "deflate");

}  // namespace
}  // namespace firn::iceberg
