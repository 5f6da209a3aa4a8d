// SPDX-License-Identifier: Apache-2.0
//
// Writes the metadata of a large table to a local folder, without its data files: for measuring planning.
//
// In: folder, how many manifests, how many files, how many partitions. Out: a Hadoop-style table of one snapshot.
// Each manifest is what one commit would have added: small files of one day, with metrics of 16 columns.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "iceberg/manifest_fixture.h"

namespace {

using firn::Bytes;
using firn::MemorySink;
using firn::SequenceNumber;
using firn::SnapshotId;
using firn::iceberg::fixture::Must;

constexpr int kColumns = 16;
constexpr std::int32_t kFirstDay = 17'000;

struct Size {
  std::int64_t manifests = 0, files = 0, partitions = 0;
};

void WriteFile(const std::string& path, const Bytes& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
}

std::string MetadataText(const std::string& folder) {
  std::string columns;
  for (int id = 1; id <= kColumns; ++id) {
    columns += (id == 1 ? "" : ",") + std::string(R"({"id":)") + std::to_string(id) + R"(,"name":"c)" +
               std::to_string(id) + R"(","required":false,"type":")" + (id == 1 ? "date" : "long") + R"("})";
  }
  return R"({"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":")" + folder +
         R"(","last-sequence-number":9,"last-updated-ms":1602638573590,"last-column-id":16,"current-schema-id":0,)"
         R"("schemas":[{"type":"struct","schema-id":0,"fields":[)" +
         columns +
         R"(]}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,)"
         R"("name":"day","transform":"identity"}]}],"last-partition-id":1000,"default-sort-order-id":0,)"
         R"("sort-orders":[{"order-id":0,"fields":[]}],"properties":{},"current-snapshot-id":77,"snapshots":[)"
         R"({"snapshot-id":77,"sequence-number":9,"timestamp-ms":1602638573590,"manifest-list":")" +
         folder + R"(/metadata/snap-77.avro","summary":{"operation":"append"}}]})";
}

void Fill(std::int64_t number, std::int32_t day, const std::string& folder, firn::iceberg::DataFile& file) {
  const auto noise = static_cast<std::uint64_t>(number + 1) * 0x9e3779b97f4a7c15ULL;
  char name[96];
  std::snprintf(name, sizeof name, "/data/day=%05d/%08lld-%016llx-00001.parquet", day, static_cast<long long>(number),
                static_cast<unsigned long long>(noise));
  file.file_path = folder + name;
  file.format_text = "PARQUET";
  file.partition.values = {day};
  file.record_count = 1000 + static_cast<std::int64_t>(noise % 5000);
  file.file_size_bytes = 110'000 + static_cast<std::int64_t>(noise % 30'000);
  file.column_sizes.clear();
  file.value_counts.clear();
  file.null_value_counts.clear();
  file.lower_bounds.clear();
  file.upper_bounds.clear();
  for (firn::FieldId id = 1; id <= kColumns; ++id) {
    file.column_sizes.emplace_back(id, 4000 + static_cast<std::int64_t>((noise >> id) % 4000));
    file.value_counts.emplace_back(id, file.record_count);
    file.null_value_counts.emplace_back(id, 0);
    Bytes bound(id == 1 ? 4 : 8);
    if (id == 1) firn::StoreLittle(bound.data(), day);
    if (id != 1) firn::StoreLittle(bound.data(), noise >> id);
    file.lower_bounds.emplace_back(id, bound);
    file.upper_bounds.emplace_back(id, bound);
  }
  file.split_offsets = {4};
}

firn::iceberg::ManifestFile WriteManifest(const firn::iceberg::TableMetadata& metadata, const std::string& folder,
                                          std::int64_t index, const Size& size) {
  const std::string path = folder + "/metadata/" + std::to_string(index) + "-m0.avro";
  MemorySink sink(path);
  const auto writer = Must(firn::iceberg::ManifestWriter::Make(sink, metadata, {.snapshot_id = SnapshotId(77)}));
  const auto day = static_cast<std::int32_t>(kFirstDay + index * size.partitions / size.manifests);
  firn::iceberg::ManifestEntry entry;
  entry.status = firn::iceberg::EntryStatus::kAdded;
  const std::int64_t end = (index + 1) * size.files / size.manifests;
  for (std::int64_t number = index * size.files / size.manifests; number < end; ++number) {
    Fill(number, day, folder, entry.file);
    if (!writer->Add(entry)) std::exit(1);
  }
  auto line = Must(writer->Finish());
  line.manifest_path = path;
  WriteFile(path, sink.bytes());
  return line;
}

void WriteTable(const std::string& folder, const Size& size) {
  for (const std::string& made : {folder, folder + "/metadata"}) mkdir(made.c_str(), 0777);
  const std::string text = MetadataText(folder);
  const auto metadata = Must(firn::iceberg::TableMetadata::Parse(firn::AsBytes(text)));
  std::vector<firn::iceberg::ManifestFile> lines;
  for (std::int64_t i = 0; i < size.manifests; ++i) lines.push_back(WriteManifest(metadata, folder, i, size));
  MemorySink list(folder + "/metadata/snap-77.avro");
  (void)Must(firn::iceberg::WriteManifestList(list, metadata, SnapshotId(77), std::nullopt, SequenceNumber(9), 0,
                                              "deflate", lines));
  WriteFile(list.name(), list.bytes());
  WriteFile(folder + "/metadata/v1.metadata.json", Bytes(text.begin(), text.end()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: planning_table FOLDER MANIFESTS FILES PARTITIONS\n");
    return 2;
  }
  const Size size{std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4])};
  if (size.manifests < 1 || size.files < size.manifests || size.partitions < 1) return 2;
  WriteTable(argv[1], size);
  return 0;
}
