// SPDX-License-Identifier: Apache-2.0
#include "orient/delete_debt.h"

#include <algorithm>
#include <cmath>

namespace firn::orient {

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
         static_cast<std::int64_t>(file.delete_files) >= policy.delete_file_threshold;
}

}  // namespace firn::orient
