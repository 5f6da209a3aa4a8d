// SPDX-License-Identifier: Apache-2.0
#include "service/delete_options.h"

namespace firn::service {

Result<decide::DeleteRewriteOptions> DeleteRewriteOptionsOf(const iceberg::TableMetadata& metadata,
                                                            const orient::Policy& policy) {
  constexpr std::int64_t kTargetBytes = std::int64_t{64} << 20;
  decide::DeleteRewriteOptions options;
  options.enabled = policy.enabled;
  options.min_input_files = policy.min_input_files;
  options.own_file_ratio = policy.delete_ratio_threshold;
  FIRN_ASSIGN(options.target_size_bytes, metadata.IntProperty("write.delete.target-file-size-bytes", kTargetBytes));
  if (options.target_size_bytes <= 0) {
    return Error{Code::kInvalidArgument,
                 "table property `write.delete.target-file-size-bytes` is not a number of bytes above 0"};
  }
  options.by_file = metadata.Property("write.delete.granularity", "partition") == "file";
  return options;
}

}  // namespace firn::service
