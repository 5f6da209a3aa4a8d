// SPDX-License-Identifier: Apache-2.0
// Any bytes as a metadata file. What is accepted must survive its own round trip, answer every look-up, and either
// take a commit or refuse it; the result must be readable again.
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "iceberg/metadata.h"
#include "iceberg/name_mapping.h"
#include "iceberg/schema_json.h"
#include "iceberg/table_update.h"

namespace {

using namespace firn;
using namespace firn::iceberg;

void LookAtSchemas(const TableMetadata& metadata) {
  for (const Schema& schema : metadata.schemas()) {
    const json::Value written = SchemaToJson(schema);
    const auto again = SchemaFromJson(written);
    FIRN_CHECK(again.has_value());
    FIRN_CHECK(SchemaToJson(*again) == written);
    for (const Field& field : schema.fields()) {
      FIRN_CHECK(schema.FindField(field.id) == &field);
      (void)schema.FindByName(schema.FullName(field.id));
      if (field.initial_default && field.type.is_primitive()) {
        (void)LiteralFromJson(field.type, *field.initial_default);
      }
    }
  }
}

void LookAtSpecs(const TableMetadata& metadata) {
  for (const PartitionSpec& spec : metadata.specs()) {
    const auto types = PartitionTypes(spec, metadata.current_schema());
    PartitionTuple tuple;
    for (const Type& type : types) {
      auto literal = DecodeBound(type, Bytes(8, 0x85));
      tuple.values.push_back(literal ? *literal : Literal());
    }
    (void)PartitionPath(spec, metadata.current_schema(), tuple);
    FIRN_CHECK(TupleKey(tuple) == TupleKey(tuple));
  }
}

void Commit(const TableMetadata& base) {
  Snapshot snapshot;
  snapshot.id = SnapshotId(1234567);
  snapshot.timestamp = base.last_updated();
  snapshot.manifest_list = "list.avro";
  snapshot.summary = {{"operation", "replace"}};
  if (const Snapshot* current = base.current_snapshot()) snapshot.parent_id = current->id;
  if (base.format_version() > 1 && base.last_sequence_number().value < INT64_MAX) {
    snapshot.sequence_number = SequenceNumber(base.last_sequence_number().value + 1);
  }
  if (base.format_version() >= 3) {
    snapshot.first_row_id = base.next_row_id();
    snapshot.added_rows = 10;
  }
  const auto after = ApplyUpdates(base, "base.json",
                                  {AddSnapshot{snapshot}, SetSnapshotRef{{.name = "main", .snapshot_id = snapshot.id}},
                                   SetProperties{{{"firn.test", "1"}}}},
                                  base.last_updated());
  if (!after) return;
  FIRN_CHECK(after->current_snapshot() != nullptr && after->current_snapshot()->id == snapshot.id);
  FIRN_CHECK(TableMetadata::Parse(AsBytes(after->ToJsonText())).has_value());
  std::vector<SnapshotId> others;
  for (const Snapshot& known : after->snapshots()) {
    if (known.id != snapshot.id) others.push_back(known.id);
  }
  if (const auto expired = ApplyUpdates(*after, "next.json", {RemoveSnapshots{others}}, base.last_updated())) {
    FIRN_CHECK(expired->snapshots().size() == 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)ParseNameMapping(AsText({data, size}));
  const auto metadata = TableMetadata::Parse({data, size});
  if (!metadata) return 0;
  const auto again = TableMetadata::Parse(AsBytes(metadata->ToJsonText()));
  FIRN_CHECK(again.has_value());
  FIRN_CHECK(again->tree() == metadata->tree());
  LookAtSchemas(*metadata);
  LookAtSpecs(*metadata);
  for (const Snapshot& snapshot : metadata->snapshots()) {
    FIRN_CHECK(metadata->FindSnapshot(snapshot.id) == &snapshot);
    (void)metadata->IsAncestor(SnapshotId(1), snapshot.id);
  }
  Commit(*metadata);
  return 0;
}
