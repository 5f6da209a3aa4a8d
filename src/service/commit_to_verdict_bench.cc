// SPDX-License-Identifier: Apache-2.0
// A commit of 100 files to a table on the local disk that nothing has to be scanned for: what it costs from the
// metadata at hand to the verdict, and from the catalog to the record in the state on disk, as a look of the service
// does it.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "iceberg/manifest_fixture.h"
#include "observe/changes.h"
#include "observe/observe.h"
#include "orient/table_state.h"
#include "orient/triage.h"
#include "ports/hadoop_catalog.h"
#include "ports/local_file_io.h"
#include "service/look.h"
#include "service/state_store.h"

namespace firn::service {
namespace {

using iceberg::fixture::Must;

constexpr int kManifests = 50, kFiles = 100, kOldSnapshots = 100;
constexpr TimestampMs kNow{1'700'000'000'000};

/// A table of `kManifests` manifests of 100 files each, all large; snapshot 2 adds the last one.
class LocalTable {
 public:
  LocalTable() {
    std::string name = std::filesystem::temp_directory_path() / "firn-bench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
    for (int manifest = 0; manifest < kManifests - 1; ++manifest) AddManifest(manifest, 1);
    WriteList(1);
    AddManifest(kManifests - 1, 2);
    WriteList(2);
  }
  ~LocalTable() { std::filesystem::remove_all(directory_); }

  ports::LoadedTable At(std::int64_t head) const {
    ports::LoadedTable table;
    table.id = Id();
    const std::string text = TextAt(head);
    table.metadata = std::make_shared<const iceberg::TableMetadata>(Must(iceberg::TableMetadata::Parse(AsBytes(text))));
    return table;
  }
  /// As a Hadoop catalog finds it.
  ports::TableIdentifier Id() const { return {{}, directory_}; }
  void SetHead(std::int64_t head) {
    std::filesystem::create_directories(directory_ + "/metadata");
    const std::string location = directory_ + "/metadata/v1.metadata.json";
    std::filesystem::remove(location);
    Write(location, AsBytes(TextAt(head)));
  }
  const std::string& directory() const { return directory_; }
  ports::FileIO& io() { return io_; }

 private:
  std::string ListOf(std::int64_t id) const { return directory_ + "/snap-" + std::to_string(id) + ".avro"; }
  std::string TextAt(std::int64_t head) const {
    std::string text = iceberg::fixture::PlainTable(2).ToJsonText();
    text.pop_back();
    text += R"(,"current-snapshot-id":)" + std::to_string(head) + R"(,"snapshots":[)";
    for (int i = 0; i < kOldSnapshots; ++i) text += Snapshot(1000 + i, "") + ",";
    return text + Snapshot(1, "") + "," + Snapshot(2, R"("parent-snapshot-id":1,)") + "]}";
  }
  std::string Snapshot(std::int64_t id, const std::string& parent) const {
    const std::string number = std::to_string(id);
    return R"({"snapshot-id":)" + number + "," + parent + R"("sequence-number":)" + std::to_string(id % 1000 % 3) +
           R"(,"timestamp-ms":1602638573590,"summary":{"operation":"append","added-data-files":"100",)"
           R"("added-records":"1000","total-data-files":"5000","total-records":"50000","engine-name":"bench"},)"
           R"("manifest-list":")" +
           ListOf(id) + "\"}";
  }
  void Write(const std::string& location, ByteView bytes) {
    const auto file = Must(io_.Create(location));
    if (!file->Write(bytes) || !file->Close()) std::abort();
  }
  void AddManifest(int manifest, std::int64_t snapshot_id) {
    std::vector<iceberg::ManifestEntry> entries;
    for (int i = 0; i < kFiles; ++i) {
      iceberg::DataFile file = iceberg::fixture::PlainFile(
          directory_ + "/data/day=2024-05-17/" + std::to_string(manifest) + "-" + std::to_string(i) + ".parquet",
          19000 + i);
      file.file_size_bytes = (std::int64_t{500} << 20) + i;
      for (FieldId id = 1; id <= 16; ++id) {
        file.column_sizes.emplace_back(id, 4000 + i);
        file.value_counts.emplace_back(id, 10);
        file.null_value_counts.emplace_back(id, 0);
        file.lower_bounds.emplace_back(id, Bytes(8, static_cast<std::uint8_t>(i)));
        file.upper_bounds.emplace_back(id, Bytes(8, static_cast<std::uint8_t>(i + 1)));
      }
      entries.push_back(iceberg::fixture::Added(std::move(file)));
    }
    iceberg::ManifestWriterOptions options;
    options.snapshot_id = SnapshotId(snapshot_id);
    auto written = iceberg::fixture::Write(*At(1).metadata, entries, options);
    written.line.manifest_path = directory_ + "/m" + std::to_string(manifest) + ".avro";
    written.line.sequence_number = written.line.min_sequence_number = SequenceNumber(snapshot_id);
    Write(written.line.manifest_path, written.bytes);
    lines_.push_back(std::move(written.line));
  }
  void WriteList(std::int64_t id) {
    MemorySink list(ListOf(id));
    (void)Must(iceberg::WriteManifestList(list, *At(1).metadata, SnapshotId(id), std::nullopt, SequenceNumber(id), 0,
                                          "deflate", lines_));
    Write(ListOf(id), list.bytes());
  }

  std::string directory_;
  ports::LocalFileIO io_;
  std::vector<iceberg::ManifestFile> lines_;
};

void CommitToVerdict(benchmark::State& bench) {
  LocalTable local;
  const orient::Policy policy;
  orient::TableState scanned;
  scanned.AbsorbScan(Must(observe::Observe(local.At(1), local.io(), {}, kNow)), policy);
  const Bytes saved = scanned.Serialize();
  const ports::LoadedTable table = local.At(2);
  std::size_t touched = 0;
  for (auto _ : bench) {
    bench.PauseTiming();
    orient::TableState state = Must(orient::TableState::Parse(saved));
    bench.ResumeTiming();
    const observe::ChangeSet set = Must(observe::ReadChanges(table, local.io(), {.since = state.snapshot_id()}));
    const auto applied = state.Apply(set, policy, kNow);
    for (const std::uint32_t index : applied.touched) {
      const orient::Verdict verdict = orient::Triage(state.partition(index), policy, kNow);
      if (verdict.kind == orient::VerdictKind::kScan) bench.SkipWithError(verdict.reason.c_str());
    }
    touched = applied.touched.size();
  }
  if (touched != kFiles) bench.SkipWithError("partitions are missing");
}
BENCHMARK(CommitToVerdict)->Unit(benchmark::kMicrosecond);

WatchedTable Copy(const WatchedTable& from, const Bytes& saved_state) {
  WatchedTable table;
  table.record = from.record;
  table.state = Must(orient::TableState::Parse(saved_state));
  table.wanted = from.wanted;
  table.location = from.location;
  table.text_of = from.text_of;
  table.has_histogram = from.has_histogram;
  table.score_excess = from.score_excess;
  table.has_settings = from.has_settings;
  return table;
}

/// How far a look goes.
enum class Until { kLoaded, kLooked, kRecorded };

void CommitToRecord(benchmark::State& bench, Until until) {
  LocalTable local;
  ports::SystemClock clock;
  const auto catalog = Must(ports::HadoopCatalog::Open("local", {}, ports::StandardFileIO(), clock));
  Random random(1);
  LookOptions options;
  options.database = "local/db";
  local.SetHead(1);
  WatchedTable scanned;
  scanned.record.row.id = "local/" + local.directory();
  if (const auto first = Look(*catalog, local.Id(), options, random, kNow, scanned); first.error) {
    return bench.SkipWithError(first.error->message.c_str());
  }
  const auto store = Must(StateStore::Open(local.directory() + "/state.db"));
  local.SetHead(2);
  const Bytes saved = scanned.state.Serialize();
  for (auto _ : bench) {
    bench.PauseTiming();
    WatchedTable table = Copy(scanned, saved);
    bench.ResumeTiming();
    if (until == Until::kLoaded) {
      benchmark::DoNotOptimize(Must(catalog->LoadTable(local.Id())));
      continue;
    }
    LookResult result = Look(*catalog, local.Id(), options, random, kNow, table);
    if (result.counts.partitions_changed != kFiles) bench.SkipWithError("partitions are missing");
    if (result.candidates) bench.SkipWithError("something was scanned");
    if (until == Until::kLooked) continue;
    StateUpdate update;
    table.record.partitions = std::string(AsText(table.state.Serialize()));
    update.table = &table.record;
    update.trend = &*result.trend;
    update.decisions = std::move(result.decisions);
    if (!store->Write(update)) bench.SkipWithError("the state was not written");
  }
}
BENCHMARK_CAPTURE(CommitToRecord, loaded, Until::kLoaded)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(CommitToRecord, looked, Until::kLooked)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(CommitToRecord, recorded, Until::kRecorded)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace firn::service
