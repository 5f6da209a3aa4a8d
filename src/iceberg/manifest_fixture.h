// SPDX-License-Identifier: Apache-2.0
//
// Small tables and manifests for tests, fuzz targets and benchmarks.
//
// Guarantees: ends the program when something cannot be made; no test goes on with half a table.
// Threads: pure.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/manifest_reader.h"
#include "iceberg/manifest_writer.h"

namespace firn::iceberg::fixture {

/// Ends the program when the value is an error.
template <class T>
T Must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", ToString(result.error()).c_str());
    std::abort();
  }
  return std::move(*result);
}

/// `fields`: members of the schema's list; `specs`: the list of partition specs.
inline TableMetadata Table(int version, const std::string& fields, const std::string& specs) {
  const std::string text =
      R"({"format-version":)" + std::to_string(version) +
      R"(,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t","last-sequence-number":9,)"
      R"("last-updated-ms":1602638573590,"last-column-id":100,"current-schema-id":0,"schemas":[{"type":"struct",)"
      R"("schema-id":0,"fields":[)" +
      fields + R"(]}],"default-spec-id":0,"partition-specs":)" + specs + (version >= 3 ? R"(,"next-row-id":0)" : "") +
      R"(,"last-partition-id":1100,"default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],)"
      R"("properties":{}})";
  const std::string v1 = R"({"format-version":1,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",)"
                         R"("location":"s3://b/t","last-updated-ms":1602638573590,"last-column-id":100,"schema":)"
                         R"({"type":"struct","schema-id":0,"fields":[)" +
                         fields + R"(]},"default-spec-id":0,"partition-spec":[],"partition-specs":)" + specs +
                         R"(,"properties":{}})";
  return Must(TableMetadata::Parse(AsBytes(version == 1 ? v1 : text)));
}

/// id long, day date, name string; spec 0: day and name, spec 1: none.
inline TableMetadata PlainTable(int version) {
  return Table(version,
               R"({"id":1,"name":"id","required":true,"type":"long"},)"
               R"({"id":2,"name":"day","required":false,"type":"date"},)"
               R"({"id":3,"name":"name","required":false,"type":"string"})",
               R"([{"spec-id":0,"fields":[{"source-id":2,"field-id":1000,"name":"day","transform":"identity"},)"
               R"({"source-id":3,"field-id":1001,"name":"name","transform":"identity"}]},)"
               R"({"spec-id":1,"fields":[]}])");
}

inline DataFile PlainFile(const std::string& path, std::int32_t day = 19000) {
  DataFile file;
  file.file_path = path;
  file.format = FileFormat::kParquet;
  file.format_text = "PARQUET";
  file.partition.values = {day, std::string("x")};
  file.record_count = 10;
  file.file_size_bytes = 1000;
  return file;
}

inline ManifestEntry Added(DataFile file) {
  ManifestEntry entry;
  entry.status = EntryStatus::kAdded;
  entry.file = std::move(file);
  return entry;
}

inline ManifestEntry Carried(EntryStatus status, DataFile file, std::int64_t snapshot_id,
                             std::int64_t sequence_number) {
  ManifestEntry entry;
  entry.status = status;
  entry.file = std::move(file);
  entry.snapshot_id = SnapshotId(snapshot_id);
  entry.sequence_number = SequenceNumber(sequence_number);
  entry.file_sequence_number = SequenceNumber(sequence_number);
  return entry;
}

struct WrittenManifest {
  Bytes bytes;
  ManifestFile line;
};

inline WrittenManifest Write(const TableMetadata& metadata, const std::vector<ManifestEntry>& entries,
                             ManifestWriterOptions options = {}) {
  options.format_version = metadata.format_version();
  if (options.snapshot_id.value == 0) options.snapshot_id = SnapshotId(77);
  MemorySink sink("m0.avro");
  const auto writer = Must(ManifestWriter::Make(sink, metadata, options));
  for (const ManifestEntry& entry : entries) {
    if (const Status status = writer->Add(entry); !status) {
      std::fprintf(stderr, "%s\n", ToString(status.error()).c_str());
      std::abort();
    }
  }
  ManifestFile line = Must(writer->Finish());
  return {std::move(sink.bytes()), std::move(line)};
}

inline Result<std::vector<ManifestEntry>> Read(const TableMetadata& metadata, Bytes bytes, const ManifestFile& line,
                                               Wanted wanted = Wanted::everything()) {
  MemorySource source("m0.avro", std::move(bytes));
  SourceStream stream(source);
  FIRN_ASSIGN(const auto reader, ManifestReader::Open(stream, line, metadata, wanted));
  std::vector<ManifestEntry> entries;
  ManifestEntry entry;
  while (true) {
    FIRN_ASSIGN(const bool more, reader->Next(entry));
    if (!more) return entries;
    if (reader->ordinal() != static_cast<std::int64_t>(entries.size())) {
      return Error{Code::kInternal, "ordinal is wrong"};
    }
    entries.push_back(entry);
  }
}

}  // namespace firn::iceberg::fixture
