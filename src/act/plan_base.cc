// SPDX-License-Identifier: Apache-2.0
#include "act/plan_base.h"

#include <fmt/format.h>

#include "act/run_journal.h"
#include "base/version.h"
#include "ports/location.h"
#include "ports/metadata_file.h"

namespace firn::act {
namespace {

Status CheckFilePlaces(ports::FileIO& io, const ports::LoadedTable& table, const DataLocations& locations,
                       const std::string& file_name) {
  FIRN_TRY(io.CheckCreate(locations.NewLocation("", file_name)).In(ToString(table.id)));
  return io.CheckCreate(ports::Join(ports::MetadataFolder(*table.metadata), "manifest.avro")).In(ToString(table.id));
}

}  // namespace

bool IsInHistory(const iceberg::TableMetadata& metadata, SnapshotId plan, const iceberg::Snapshot* head) {
  return head != nullptr && metadata.FindSnapshot(plan) != nullptr && metadata.IsAncestor(plan, head->id);
}

Error OutOfDate(const ports::LoadedTable& table, std::string_view what) {
  return {Code::kConflict, fmt::format("{}: the plan is out of date: {}", ToString(table.id), what)};
}

Status CheckPlanBase(const ports::LoadedTable& table, const PlanBase& plan) {
  const iceberg::TableMetadata& metadata = *table.metadata;
  FIRN_TRY(CheckWritable(metadata).In(ToString(table.id)));
  if (plan.snapshot_id != plan.observed_snapshot_id || !plan.snapshot_id) {
    return Error{Code::kInvalidArgument, "the plan was not made from these facts"};
  }
  if (metadata.table_uuid() != plan.table_uuid) return OutOfDate(table, "the table was replaced");
  if (metadata.format_version() != plan.format_version) return OutOfDate(table, "its format version changed");
  FIRN_TRY(CheckNoTag(metadata, plan.ref).In(ToString(table.id)));
  if (IsInHistory(metadata, *plan.snapshot_id, metadata.RefSnapshot(plan.ref))) return Ok();
  return OutOfDate(table, "its snapshot is no longer in the history of the branch");
}

Status CheckPlaces(CommitEnvironment& environment, const ports::LoadedTable& table, const DataLocations& locations,
                   const std::string& file_name) {
  FIRN_TRY(environment.catalog.CheckWritable(table));
  return CheckFilePlaces(environment.io, table, locations, file_name);
}

Status CheckChangeable(ports::FileIO& io, const ports::LoadedTable& table, const std::string& ref) {
  FIRN_TRY(CheckWritable(*table.metadata).In(ToString(table.id)));
  FIRN_TRY(CheckNoTag(*table.metadata, ref).In(ToString(table.id)));
  FIRN_ASSIGN(const DataLocations locations, DataLocations::For(*table.metadata));
  return CheckFilePlaces(io, table, locations, "data.parquet");
}

Status BeginRun(CommitEnvironment& environment, const ports::LoadedTable& table) {
  return environment.journal == nullptr ? Ok() : environment.journal->Begin(table).In(ToString(table.id));
}

std::vector<std::pair<std::string, std::string>> PlanSummary(const std::string& service_id, SnapshotId plan) {
  std::vector<std::pair<std::string, std::string>> summary = {{"firn.version", kVersion},
                                                              {"firn.base-snapshot-id", std::to_string(plan.value)},
                                                              {"engine-name", "firn"},
                                                              {"engine-version", kVersion}};
  if (!service_id.empty()) summary.emplace_back("firn.service-id", service_id);
  return summary;
}

}  // namespace firn::act
