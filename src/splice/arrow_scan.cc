// SPDX-License-Identifier: Apache-2.0
#include "splice/arrow_scan.h"

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <numeric>
#include <vector>

namespace firn::splice {
namespace {

constexpr std::int64_t kBatchRows = 16 * 1024;

Error FromArrow(const arrow::Status& status) {
  Code code = Code::kCorrupt;
  if (status.IsNotImplemented()) code = Code::kUnsupported;
  if (status.IsOutOfMemory()) code = Code::kLimit;
  return Error{code, status.ToString()};
}

Result<ScanResult> ScanFile(const std::string& path, int columns_max, const std::atomic<bool>* cancelled) {
  auto input = arrow::io::ReadableFile::Open(path);
  if (!input.ok()) return Error{Code::kUnavailable, input.status().ToString()};
  parquet::arrow::FileReaderBuilder builder;
  if (const arrow::Status opened = builder.Open(*input); !opened.ok()) return FromArrow(opened);
  parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(kBatchRows);
  properties.set_pre_buffer(false);
  std::unique_ptr<parquet::arrow::FileReader> reader;
  if (const arrow::Status built = builder.properties(properties)->Build(&reader); !built.ok()) return FromArrow(built);

  const auto footer = reader->parquet_reader()->metadata();
  const int columns = columns_max > 0 ? std::min(columns_max, footer->num_columns()) : footer->num_columns();
  std::vector<int> leaves(static_cast<std::size_t>(columns)),
      groups(static_cast<std::size_t>(footer->num_row_groups()));
  std::iota(leaves.begin(), leaves.end(), 0);
  std::iota(groups.begin(), groups.end(), 0);
  auto batches = reader->GetRecordBatchReader(groups, leaves);
  if (!batches.ok()) return FromArrow(batches.status());
  ScanResult result;
  for (;;) {
    if (cancelled != nullptr && cancelled->load()) return Error{Code::kCancelled, "stopped"};
    auto batch = (*batches)->Next();
    if (!batch.ok()) return FromArrow(batch.status());
    if (*batch == nullptr) return result;
    result.rows += (*batch)->num_rows();
    result.decoded_bytes += arrow::util::TotalBufferSize(**batch);
  }
}

}  // namespace

Result<ScanResult> ScanFiles(std::span<const std::string> paths, int columns_max, const std::atomic<bool>* cancelled) {
  ScanResult sum;
  for (const std::string& path : paths) {
    Result<ScanResult> file = Error{Code::kInternal, "not read"};
    try {
      file = ScanFile(path, columns_max, cancelled);
    } catch (const std::exception& caught) {  // the library throws for damage below its Arrow layer
      file = Error{Code::kCorrupt, caught.what()};
    }
    if (!file) return std::move(file.error()).In(path);
    sum.rows += file->rows;
    sum.decoded_bytes += file->decoded_bytes;
  }
  return sum;
}

}  // namespace firn::splice
