// SPDX-License-Identifier: Apache-2.0
// A table of a million files in 1,000 manifests, observed by one and by two threads.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdio>
#include <string>

#include "iceberg/manifest_fixture.h"
#include "observe/observe.h"
#include "observe/resolve.h"
#include "ports/memory_file_io.h"

namespace firn::observe {
namespace {

using iceberg::fixture::Must;

constexpr int kManifests = 1000;
constexpr int kFilesPerManifest = 1000;
constexpr int kColumns = 16;

iceberg::DataFile File(int manifest, int number) {
  iceberg::DataFile file = iceberg::fixture::PlainFile("", 19000 + manifest % 365);
  const auto noise = static_cast<std::uint64_t>(manifest * kFilesPerManifest + number) * 0x9e3779b97f4a7c15ULL;
  char name[64];
  std::snprintf(name, sizeof name, "%05d-%d-%016llx-00001.parquet", number, manifest,
                static_cast<unsigned long long>(noise));
  file.file_path = "s3://bucket/warehouse/db/table/data/day=2024-05-17/" + std::string(name);
  file.file_size_bytes = 110'000 + static_cast<std::int64_t>(noise % 30'000);
  file.record_count = 1000 + static_cast<std::int64_t>(noise % 5000);
  for (FieldId id = 1; id <= kColumns; ++id) {
    file.column_sizes.emplace_back(id, 4000 + static_cast<std::int64_t>((noise >> id) % 4000));
    file.value_counts.emplace_back(id, file.record_count);
    file.null_value_counts.emplace_back(id, 0);
    Bytes bound(8);
    StoreLittle(bound.data(), noise >> id);
    file.lower_bounds.emplace_back(id, bound);
    file.upper_bounds.emplace_back(id, bound);
  }
  return file;
}

struct LargeTable {
  ports::MemoryFileIO io;
  ports::LoadedTable table;
};

const char* const kFields = R"({"id":1,"name":"id","required":true,"type":"long"},)"
                            R"({"id":2,"name":"day","required":false,"type":"date"},)"
                            R"({"id":3,"name":"name","required":false,"type":"string"})";

iceberg::TableMetadata WithSnapshot() {
  const std::string text =
      R"({"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t",)"
      R"("last-sequence-number":9,"last-updated-ms":1602638573590,"last-column-id":100,"current-schema-id":0,)"
      R"("schemas":[{"type":"struct","schema-id":0,"fields":[)" +
      std::string(kFields) +
      R"(]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[)"
      R"({"source-id":2,"field-id":1000,"name":"day","transform":"identity"},)"
      R"({"source-id":3,"field-id":1001,"name":"name","transform":"identity"}]}],"last-partition-id":1100,)"
      R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"properties":{},)"
      R"("current-snapshot-id":77,"snapshots":[{"snapshot-id":77,"sequence-number":9,"timestamp-ms":1602638573590,)"
      R"("manifest-list":"s3://b/t/snap.avro","summary":{"operation":"append"}}]})";
  return Must(iceberg::TableMetadata::Parse(AsBytes(text)));
}

LargeTable& Table() {
  static LargeTable& large = *[] {
    auto* made = new LargeTable;
    made->table.metadata = std::make_shared<const iceberg::TableMetadata>(WithSnapshot());
    std::vector<iceberg::ManifestFile> lines;
    for (int i = 0; i < kManifests; ++i) {
      std::vector<iceberg::ManifestEntry> entries;
      for (int j = 0; j < kFilesPerManifest; ++j) entries.push_back(iceberg::fixture::Added(File(i, j)));
      auto written = iceberg::fixture::Write(*made->table.metadata, entries);
      written.line.manifest_path = "s3://b/t/m" + std::to_string(i) + ".avro";
      made->io.Put(written.line.manifest_path, std::move(written.bytes));
      lines.push_back(std::move(written.line));
    }
    MemorySink list("s3://b/t/snap.avro");
    (void)Must(iceberg::WriteManifestList(list, *made->table.metadata, SnapshotId(77), std::nullopt, SequenceNumber(9),
                                          0, "deflate", lines));
    made->io.Put("s3://b/t/snap.avro", std::move(list.bytes()));
    return made;
  }();
  return large;
}

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void ObserveTable(benchmark::State& state) {
  LargeTable& large = Table();
  const double before = PeakMegabytes();
  ObserveOptions options;
  options.threads = static_cast<int>(state.range(0));
  options.check_duplicates = state.range(1) != 0;
  for (auto _ : state) {
    const Facts facts = Must(Observe(large.table, large.io, options, {}));
    if (facts.files.size() != std::size_t{kManifests} * kFilesPerManifest) state.SkipWithError("files are missing");
  }
  state.counters["files/s"] = benchmark::Counter(
      static_cast<double>(kManifests * kFilesPerManifest * state.iterations()), benchmark::Counter::kIsRate);
  state.counters["peak MB more"] = PeakMegabytes() - before;
}
BENCHMARK(ObserveTable)
    ->ArgNames({"threads", "duplicates"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({1, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void Resolve(benchmark::State& state) {
  LargeTable& large = Table();
  const Facts facts = Must(Observe(large.table, large.io, {}, {}));
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < 2000; ++i) chosen.push_back(i);
  for (auto _ : state) {
    std::vector<iceberg::ManifestEntry> entries(chosen.size());
    const auto keep = [&](std::size_t place, const iceberg::ManifestEntry& entry) -> Status {
      entries[place] = entry;
      return Ok();
    };
    const Status read =
        ForEachFile(facts, chosen, large.io, *large.table.metadata, iceberg::Wanted::everything(), keep);
    if (!read) state.SkipWithError(read.error().message.c_str());
    benchmark::DoNotOptimize(entries.data());
  }
}
BENCHMARK(Resolve)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace firn::observe
