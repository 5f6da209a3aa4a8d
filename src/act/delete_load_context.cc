// SPDX-License-Identifier: Apache-2.0
#include "act/delete_load_context.h"

#include <algorithm>

namespace firn::act {
namespace {

/// Less does not hold a page and a dictionary of usual size.
constexpr std::int64_t kScanBytesMin = 16 << 20, kScanBytesMax = 256 << 20;

}  // namespace

Result<std::unique_ptr<splice::ScanFile>> OpenForScan(const DeleteLoadContext& context, const iceberg::DataFile& file) {
  if (file.format != iceberg::FileFormat::kParquet) {
    return Error{Code::kUnsupported, file.file_path + ": deletes of " + std::string(iceberg::FormatName(file.format)) +
                                         " files are not read"};
  }
  if (file.key_metadata) return Error{Code::kUnsupported, file.file_path + ": the file is encrypted"};
  FIRN_ASSIGN(std::unique_ptr<RandomAccessSource> source,
              context.io.Open(file.file_path, static_cast<std::uint64_t>(file.file_size_bytes)));
  FIRN_ASSIGN(std::unique_ptr<splice::ScanFile> opened, splice::ScanFile::Open(std::move(source)));
  if (opened->footer().num_rows != file.record_count) {
    return Error{Code::kCorrupt, file.file_path + ": its footer counts " + std::to_string(opened->footer().num_rows) +
                                     " rows, its manifest entry " + std::to_string(file.record_count)};
  }
  return opened;
}

bool IsOfOneFile(Code code) {
  return code == Code::kCorrupt || code == Code::kUnsupported || code == Code::kLimit || code == Code::kNotFound;
}

Status CheckGoesOn(const DeleteLoadContext& context) {
  if (context.cancelled != nullptr && context.cancelled->load(std::memory_order_relaxed)) {
    return Error{Code::kCancelled, "reading of deletes was stopped"};
  }
  return Ok();
}

std::int64_t ScanMemoryBytes(const DeleteLoadContext& context) {
  return std::clamp(context.memory_bytes / 4 / std::max(context.threads, 1), kScanBytesMin, kScanBytesMax);
}

}  // namespace firn::act
