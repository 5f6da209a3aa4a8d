// SPDX-License-Identifier: Apache-2.0
//
// Small tables with deletes for the tests of this folder; Parquet files are written by Arrow.
//
// In: columns as JSON. Out: files with field ids in memory, manifest entries, metadata.
// Guarantees: what is described is what the file holds; a test that describes nonsense fails.
// Threads: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "act/delete_load_context.h"
#include "format/roaring/position_set.h"
#include "ports/memory_file_io.h"

namespace firn::act::testing {

struct Column {
  std::string name;
  FieldId id = 0;
  /// "int", "long", "decimal(9,2)", ...; "struct<11 x int, 12 y string>"; with '!' behind it: required.
  std::string type;
  std::string json;
};

struct FileShape {
  std::int64_t row_group_rows = 1 << 20;
  bool with_ids = true;
  bool statistics = true;
};

Bytes ParquetOf(const std::vector<Column>& columns, const FileShape& shape = {});

/// Lists of JSON values, for making columns in loops.
std::string JsonList(const std::vector<std::int64_t>& values);
std::string JsonTexts(const std::vector<std::string>& values);

/// Columns of a position delete file.
std::vector<Column> PositionColumns(const std::vector<std::pair<std::string, std::int64_t>>& rows);

/// `schemas` and `specs` are the members of JSON lists; the last schema is the current one.
iceberg::TableMetadata MetadataOf(const std::string& schemas, int current_schema_id,
                                  const std::string& specs = R"({"spec-id":0,"fields":[]})", int format_version = 2);

/// A schema of MetadataOf; `fields` are joined by commas.
std::string SchemaOf(int id, const std::string& fields);
/// An optional field; `type` is a name or JSON, `more` further members.
std::string FieldOf(FieldId id, const std::string& name, const std::string& type, const std::string& more = "");

/// A table in memory.
class DeleteTable {
 public:
  explicit DeleteTable(iceberg::TableMetadata metadata) : metadata_(std::move(metadata)) {}

  DeleteLoadContext context(std::int64_t memory_bytes = 64 << 20, int threads = 1);
  ports::MemoryFileIO& io() { return io_; }

  /// Stores a file and makes its entry; the row count is the footer's.
  iceberg::DataFile Put(const std::string& path, const Bytes& bytes, std::int32_t spec = 0,
                        iceberg::PartitionTuple partition = {});
  iceberg::DeleteEntry PutEquality(const std::string& path, const Bytes& bytes, std::vector<FieldId> ids,
                                   std::int64_t sequence_number, std::int32_t spec = 0,
                                   iceberg::PartitionTuple partition = {});
  iceberg::DeleteEntry PutPositions(const std::string& path,
                                    const std::vector<std::pair<std::string, std::int64_t>>& rows,
                                    const FileShape& shape = {});
  /// One Puffin file with a vector for each data file.
  std::vector<iceberg::DeleteEntry> PutVectors(
      const std::string& path, const std::vector<std::pair<std::string, roaring::PositionSet>>& vectors);

 private:
  iceberg::TableMetadata metadata_;
  ports::MemoryFileIO io_;
};

/// Unpartitioned, of one schema.
DeleteTable TableOf(const std::string& fields, int format_version = 2);

}  // namespace firn::act::testing
