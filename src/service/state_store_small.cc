// SPDX-License-Identifier: Apache-2.0
// Single values and rows of the state: what is known of one table, analyses, values by name.
#include <fmt/format.h>

#include "service/row_json.h"
#include "service/sql_values.h"
#include "service/state_store.h"

namespace firn::service {
namespace {

AnalysisRow AnalysisOf(ports::SqlRow& row) {
  return {TextOf(row[0]), TextOf(row[1]),   TextOf(row[2]), NumberOf(row[3]),
          TextOf(row[4]), NumberOf(row[5]), TextOf(row[6])};
}

}  // namespace

Result<std::vector<AnalysisRow>> StateStore::Analyses() {
  FIRN_ASSIGN(auto found, database_->Run("SELECT table_id, uuid, job, ms, word, target, '' FROM analyses"));
  std::vector<AnalysisRow> rows;
  for (ports::SqlRow& row : found.rows) rows.push_back(AnalysisOf(row));
  return rows;
}

Result<AnalysisRow> StateStore::Analysis(std::string_view table) {
  FIRN_ASSIGN(auto found, database_->Run("SELECT table_id, uuid, job, ms, word, target, json FROM analyses WHERE "
                                         "table_id = ?1",
                                         {table}));
  if (found.rows.empty()) return Error{Code::kNotFound, fmt::format("`{}` was never analysed", table)};
  return AnalysisOf(found.rows[0]);
}

Status StateStore::RemoveAnalysis(std::string_view table) {
  FIRN_TRY(database_->WriteOnce("DELETE FROM analyses WHERE table_id = ?1", {table}));
  return Ok();
}

Result<TableMemory> StateStore::Memory(std::string_view table) {
  FIRN_ASSIGN(auto found, database_->Run("SELECT row, learned FROM tables WHERE id = ?1", {table}));
  if (found.rows.empty()) return Error{Code::kNotFound, fmt::format("no table `{}`", table)};
  TableMemory memory;
  FIRN_TRY(ReadRow(TextOf(found.rows[0][0]), memory.row));
  memory.learned = TextOf(found.rows[0][1]);
  return memory;
}

Result<std::string> StateStore::Get(std::string_view name) {
  FIRN_ASSIGN(auto found, database_->Run("SELECT value FROM named WHERE name = ?1", {name}));
  return found.rows.empty() ? std::string() : TextOf(found.rows[0][0]);
}

Status StateStore::Set(std::string_view name, std::string_view value) {
  FIRN_TRY(database_->WriteOnce("INSERT OR REPLACE INTO named (name, value) VALUES (?1, ?2)", {name, value}));
  return Ok();
}

}  // namespace firn::service
