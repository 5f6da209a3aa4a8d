// SPDX-License-Identifier: Apache-2.0
// A commit of 100 files to a table on the local disk: its metadata is at hand, its changes are read, applied and looked
// at. What a commit costs when nothing has to be scanned.
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
#include "ports/local_file_io.h"

namespace firn::service {
namespace {

using iceberg::fixture::Must;

constexpr int kManifests = 50, kFiles = 100;
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
    std::string text = iceberg::fixture::PlainTable(2).ToJsonText();
    text.pop_back();
    text += R"(,"current-snapshot-id":)" + std::to_string(head) + R"(,"snapshots":[)" + Snapshot(1, "");
    text += "," + Snapshot(2, R"("parent-snapshot-id":1,)") + "]}";
    ports::LoadedTable table;
    table.id = {{"db"}, "t"};
    table.metadata = std::make_shared<const iceberg::TableMetadata>(Must(iceberg::TableMetadata::Parse(AsBytes(text))));
    return table;
  }
  ports::FileIO& io() { return io_; }

 private:
  std::string ListOf(std::int64_t id) const { return directory_ + "/snap-" + std::to_string(id) + ".avro"; }
  std::string Snapshot(std::int64_t id, const std::string& parent) const {
    return R"({"snapshot-id":)" + std::to_string(id) + "," + parent + R"("sequence-number":)" + std::to_string(id) +
           R"(,"timestamp-ms":1602638573590,"summary":{"operation":"append"},"manifest-list":")" + ListOf(id) + "\"}";
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

}  // namespace
}  // namespace firn::service
