// SPDX-License-Identifier: Apache-2.0
#include "orient/delete_debt.h"

#include <algorithm>
#include <cmath>

namespace firn::orient {
std::int64_t DeleteFilesDue(std::int64_t size_bytes, const Policy& policy) {
  if (policy.delete_file_threshold > 0) return policy.delete_file_threshold;
  const std::int64_t opens = std::max<std::int64_t>(size_bytes, 0) / (kOpenCostBytes / 2);  // of twice the bytes
  return std::max<std::int64_t>(kManyDeleteFiles, opens);
}

std::int64_t ManyDeleteFiles(const Policy& policy) {
  return policy.delete_file_threshold > 0 ? policy.delete_file_threshold : kManyDeleteFiles;
}

double DeletedRatio(const observe::DataFileFacts& file) {
  if (file.deleted_rows <= 0 || file.record_count <= 0) return 0;
  return std::min(1.0, static_cast<double>(file.deleted_rows) / static_cast<double>(file.record_count));
}

std::int64_t LiveSizeBytes(const observe::DataFileFacts& file) {
  const double ratio = DeletedRatio(file);
  if (ratio <= 0) return file.size_bytes;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(file.size_bytes) * (1 - ratio)));
}

bool IsFoldDue(const observe::DataFileFacts& file, const Policy& policy) {
  if (file.delete_files == 0) return false;
  return DeletedRatio(file) >= policy.delete_ratio_threshold ||
         static_cast<std::int64_t>(file.delete_files) >= DeleteFilesDue(file.size_bytes, policy);
}

}  // namespace firn::orient
