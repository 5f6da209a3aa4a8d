// SPDX-License-Identifier: Apache-2.0
#include "act/delete_scope.h"

#include <fmt/format.h>

namespace firn::act {
namespace {

std::string_view NameOfKind(const iceberg::DataFile& file) {
  switch (iceberg::KindOf(file)) {
    case iceberg::DeleteKind::kPositions: return "position delete";
    case iceberg::DeleteKind::kVector: return "deletion vector";
    case iceberg::DeleteKind::kEquality: return "equality delete";
  }
  return "delete";
}

}  // namespace

bool Reaches(const iceberg::TableMetadata& metadata, const iceberg::DeleteEntry& equality, SpecId spec_id,
             const iceberg::PartitionTuple& partition, SequenceNumber sequence_number) {
  if (sequence_number >= equality.sequence_number) return false;
  if (IsGlobal(metadata, equality.file.spec_id)) return true;
  return spec_id == equality.file.spec_id && iceberg::SameTuple(partition, equality.file.partition);
}

Error DeleteConflict(std::string_view what, const iceberg::DeleteEntry& found, const std::string& data_file) {
  return {Code::kConflict,
          fmt::format("{} {} {} data file {}", NameOfKind(found.file), found.file.file_path, what, data_file)};
}

}  // namespace firn::act
