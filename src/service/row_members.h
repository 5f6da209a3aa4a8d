// SPDX-License-Identifier: Apache-2.0
//
// Names the members of the rows that are both kept between two runs and shown by the API: one list for all.
//
// In: a row, a visitor. Out: one call of the visitor a member, in the order in which they are shown.
// Guarantees: a visitor is called as `visit(name, member)`, with another kind behind where
//   what is shown is not the plain value: null for never, for no snapshot, for an empty text, for below 0.
// Threads: pure. Source: docs/api.md.
#pragma once

#include <type_traits>

#include "service/fleet_rows.h"

namespace firn::service {

enum class MemberKind { kPlain, kTime, kSnapshot, kReference, kMeasured };

template <class Row, class Of>
concept RowOf = std::is_same_v<std::remove_const_t<Row>, Of>;

template <class Visit, RowOf<TableRow> Row>
void MembersOf(Visit& visit, Row& row) {
  visit("id", row.id);
  visit("catalog", row.catalog);
  visit("name", row.name);
  visit("uuid", row.uuid);
  visit("format_version", row.format_version);
  visit("files", row.files);
  visit("bytes", row.bytes);
  visit("small_files", row.small_files);
  visit("removable_files", row.removable_files);
  visit("delete_files", row.delete_files);
  visit("entropy", row.entropy);
  visit("score", row.score, MemberKind::kMeasured);
  visit("partitions", row.partitions);
  visit("noisy_partitions", row.noisy_partitions);
  visit("last_snapshot_id", row.last_snapshot_id, MemberKind::kSnapshot);
  visit("last_commit_ms", row.last_commit_ms, MemberKind::kTime);
  visit("last_looked_ms", row.last_looked_ms, MemberKind::kTime);
  visit("state", row.state);
  visit("state_reason", row.state_reason);
  visit("priority", row.priority);
}

template <class Visit, RowOf<decide::Effect> Row>
void MembersOf(Visit& visit, Row& row) {
  visit("files_removed", row.files_removed);
  visit("files_replaced", row.files_replaced);
  visit("delete_files_removed", row.delete_files_removed);
  visit("delete_reads_saved", row.delete_reads_saved);
  visit("bytes", row.bytes);
  visit("seconds", row.seconds);
  visit("reads_saved", row.reads_saved);
}

template <class Visit, RowOf<JobRow> Row>
void MembersOf(Visit& visit, Row& row) {
  visit("id", row.id);
  visit("table", row.table);
  visit("action", row.action);
  visit("partitions", row.partitions);
  visit("state", row.state);
  visit("created_ms", row.created_ms, MemberKind::kTime);
  visit("started_ms", row.started_ms, MemberKind::kTime);
  visit("ended_ms", row.ended_ms, MemberKind::kTime);
  visit("plan_id", row.plan_id);
  visit("predicted", row.predicted);
  visit("measured", row.measured);
  visit("progress", row.progress);
  visit("error", row.error);
}

template <class Visit, RowOf<NewRequest> Row>
void MembersOf(Visit& visit, Row& row) {
  visit("table", row.table);
  visit("action", row.action);
  visit("priority", row.priority);
  visit("deadline_ms", row.deadline_ms, MemberKind::kTime);
  visit("partitions", row.partitions);
}

template <class Visit, RowOf<RequestRow> Row>
void MembersOf(Visit& visit, Row& row) {
  visit("id", row.id);
  visit("request", row.request);
  visit("created_ms", row.created_ms, MemberKind::kTime);
  visit("state", row.state);
  visit("reason", row.reason);
  visit("job", row.job, MemberKind::kReference);
}

template <class Visit, RowOf<Histogram> Row>
void MembersOf(Visit& visit, Row& row) {
  visit("edges", row.edges);
  visit("before", row.before);
  visit("now", row.now);
}

template <class Visit, RowOf<Savings> Row>
void MembersOf(Visit& visit, Row& row) {
  visit("jobs", row.jobs);
  visit("files", row.files);
  visit("delete_reads_saved", row.delete_reads_saved);
  visit("bytes_rewritten", row.bytes_rewritten);
  visit("predicted_seconds", row.predicted_seconds);
  visit("measured_seconds", row.measured_seconds);
  visit("reads_saved", row.reads_saved);
}

}  // namespace firn::service
