// SPDX-License-Identifier: Apache-2.0
#include "iceberg/delete_reach.h"

namespace firn::iceberg {

std::optional<std::string_view> PathBound(const ByField<Bytes>& bounds) {
  for (const auto& [id, bytes] : bounds) {
    if (id == kDeleteFilePathField) return AsText(bytes);
  }
  return std::nullopt;
}

std::optional<std::string_view> OnlyBound(const DataFile& position_deletes) {
  const auto lower = PathBound(position_deletes.lower_bounds), upper = PathBound(position_deletes.upper_bounds);
  return lower && upper && *lower == *upper ? lower : std::nullopt;
}

bool IsGlobal(const TableMetadata& metadata, SpecId spec_id) {
  const PartitionSpec* spec = metadata.FindSpec(spec_id);
  return spec != nullptr && spec->is_unpartitioned();
}

}  // namespace firn::iceberg
