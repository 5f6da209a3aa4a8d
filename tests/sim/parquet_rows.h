// SPDX-License-Identifier: Apache-2.0
//
// Tiny Parquet files for simulated tables, written and read by Arrow: rows are ids in a partition.
//
// In: ids and a partition, or the content of a delete file. Out: bytes of a file; back again.
// Guarantees: real files with Iceberg field ids (1 "id", 2 "part"; reserved ids for position deletes). Reading is done
//   by another library than the one under test.
// Threads: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::sim {

struct Row {
  std::int64_t id = 0;
  std::int32_t part = 0;
  friend auto operator<=>(const Row&, const Row&) = default;
};

/// What a file stores of the row lineage of a row.
struct StoredLineage {
  std::optional<std::int64_t> row_id, sequence_number;
};
/// Of each row; nothing where the file lacks the columns.
Result<std::vector<StoredLineage>> ReadLineage(const Bytes& file);

Result<Bytes> WriteRows(const std::vector<Row>& rows);
Result<std::vector<Row>> ReadRows(const Bytes& file);

using Position = std::pair<std::string, std::int64_t>;  // data file, row in it
Result<Bytes> WritePositions(const std::vector<Position>& positions);
Result<std::vector<Position>> ReadPositions(const Bytes& file);

/// Equality deletes on the column "id".
Result<Bytes> WriteIds(const std::vector<std::int64_t>& ids);
Result<std::vector<std::int64_t>> ReadIds(const Bytes& file);

}  // namespace firn::sim
