// SPDX-License-Identifier: Apache-2.0
#include "service/state_store.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "decide/decision_json.h"
#include "service/page_cursor.h"
#include "service/row_json.h"
#include "service/sql_values.h"

namespace firn::service {
namespace {

constexpr std::string_view kVersion = "1";
/// Nobody else writes the state; whoever holds it all the same must not hold up the service, nor its end.
constexpr int kBusyMs = 2'000;

constexpr const char* kSchema[] = {
    "CREATE TABLE IF NOT EXISTS named (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS tables (id TEXT PRIMARY KEY, row TEXT NOT NULL, paused TEXT NOT NULL, has_work TEXT "
    "NOT NULL, histogram TEXT NOT "
    "NULL, savings TEXT NOT NULL, learned TEXT NOT NULL, partitions BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS trends (table_id TEXT NOT NULL, ms INTEGER NOT NULL, files INTEGER NOT NULL, bytes "
    "INTEGER NOT NULL, entropy REAL NOT NULL, PRIMARY KEY (table_id, ms)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS decisions (id INTEGER PRIMARY KEY, table_id TEXT NOT NULL, partition TEXT NOT NULL, "
    "kind "
    "TEXT NOT NULL, ms INTEGER NOT NULL, json TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS decisions_of_table ON decisions (table_id, id)",
    "CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, table_id TEXT NOT NULL, state TEXT NOT NULL, measured TEXT "
    "NOT "
    "NULL, row TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS jobs_of_table ON jobs (table_id, id)",
    "CREATE TABLE IF NOT EXISTS analyses (table_id TEXT PRIMARY KEY, uuid TEXT NOT NULL, job TEXT NOT NULL, ms INTEGER "
    "NOT NULL, word TEXT NOT NULL, target INTEGER NOT NULL, json TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS requests (id TEXT PRIMARY KEY, is_open TEXT NOT NULL, row TEXT NOT NULL)",
};

bool IsOpen(const RequestRow& request) {
  return request.state == "waiting" || request.state == "queued" || request.state == "running";
}

std::string Digits(std::int64_t value) { return std::to_string(value); }

void AddTable(const TableRecord& table, bool has_partitions, std::vector<ports::SqlStatement>& to) {
  to.push_back(
      {"INSERT INTO tables (id, row, paused, has_work, histogram, savings, learned, partitions) VALUES (?1, ?2, "
       "?3, ?4, '{}', ?5, ?6, '') ON CONFLICT (id) DO UPDATE SET row = excluded.row, paused = excluded.paused, "
       "has_work = excluded.has_work, savings = excluded.savings, learned = excluded.learned",
       {table.row.id, WriteRow(table.row), table.paused ? "1" : "0", table.has_work ? "1" : "0",
        WriteRow(table.savings), table.learned}});
  if (!has_partitions) return;
  // Together: the histogram is that of the snapshot that the partitions are of.
  to.push_back({"UPDATE tables SET histogram = ?2, partitions = CAST(?3 AS BLOB) WHERE id = ?1",
                {table.row.id, WriteRow(table.histogram), table.partitions}});
}

void AddTrendTo(const std::string& table, const TrendPoint& point, std::vector<ports::SqlStatement>& to) {
  to.push_back({"INSERT OR REPLACE INTO trends (table_id, ms, files, bytes, entropy) VALUES (?1, ?2, ?3, ?4, ?5)",
                {table, Digits(point.ms), Digits(point.files), Digits(point.bytes), fmt::format("{}", point.entropy)}});
  to.push_back({fmt::format("DELETE FROM trends WHERE table_id = ?1 AND ms <= (SELECT ms FROM trends WHERE table_id = "
                            "?1 ORDER BY ms DESC LIMIT 1 OFFSET {})",
                            kTrendPointsMax),
                {table}});
}

void AddJob(const JobRow& job, std::vector<ports::SqlStatement>& to) {
  to.push_back({"INSERT OR REPLACE INTO jobs (id, table_id, state, measured, row) VALUES (?1, ?2, ?3, ?4, ?5)",
                {job.id, job.table, std::string(Word(job.state)), job.measured ? "1" : "0", WriteRow(job)}});
}

void AddRequest(const RequestRow& request, std::vector<ports::SqlStatement>& to) {
  to.push_back({"INSERT OR REPLACE INTO requests (id, is_open, row) VALUES (?1, ?2, ?3)",
                {request.id, IsOpen(request) ? "1" : "0", WriteRow(request)}});
}

void AddDecision(const decide::Decision& decision, std::vector<ports::SqlStatement>& to) {
  // Again, where it is not known whether it was written the first time.
  to.push_back(
      {"INSERT OR REPLACE INTO decisions (id, table_id, partition, kind, ms, json) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
       {Digits(decision.id), decision.table, decision.partition, std::string(DecisionKindName(decision.kind)),
        Digits(decision.at.value), json::Write(decide::ToJson(decision))}});
}

void AddAnalysis(const AnalysisRow& row, std::vector<ports::SqlStatement>& to) {
  to.push_back(
      {"INSERT OR REPLACE INTO analyses (table_id, uuid, job, ms, word, target, json) VALUES (?1, ?2, ?3, ?4, "
       "?5, ?6, ?7)",
       {row.table, row.uuid, row.job, Digits(row.made_ms), row.word, Digits(row.proposed_target_bytes), row.json}});
}

template <class Row>
Result<Row> RowOf(const std::optional<std::string>& text) {
  Row row;
  FIRN_TRY(ReadRow(text ? std::string_view(*text) : std::string_view(), row));
  return row;
}

/// `rows` has one more than the page where there is a next one; `id_of` tells the cursor.
template <class Row, class IdOf>
Page<Row> PageFrom(std::vector<Row> rows, int limit, IdOf id_of) {
  Page<Row> page{std::move(rows), ""};
  if (page.items.size() > static_cast<std::size_t>(limit)) {
    page.items.pop_back();
    page.next = id_of(page.items.back());
  }
  return page;
}

int LimitOf(const PageOf& page) { return std::clamp(page.limit, 1, kPageItemsMax); }

Result<std::vector<JobRow>> JobsOf(const ports::SqlResult& found) {
  std::vector<JobRow> jobs;
  for (const ports::SqlRow& row : found.rows) {
    FIRN_ASSIGN(JobRow job, RowOf<JobRow>(row[0]));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Makes the file where it is missing, and keeps other processes of firn from it. SQLite's own locks are of another
/// kind.
Result<ports::FileDescriptor> TakeFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  ports::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid()) return ports::PosixError(path, "open", errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return ports::PosixError(path, "lock", errno);
  return Error{Code::kInvalidArgument, path + ": another firn uses this state; give each service a state of its own"};
}

}  // namespace

Result<std::unique_ptr<StateStore>> StateStore::Open(const std::string& path, const StateLimits& limits) {
  ports::FileDescriptor lock;
  if (path != ":memory:") {
    FIRN_ASSIGN(lock, TakeFile(path));
  }
  FIRN_ASSIGN(auto database, ports::SqliteDatabase::Open(path, {.create = true, .busy_timeout_ms = kBusyMs}));
  std::unique_ptr<StateStore> store(new StateStore(std::move(database), limits));
  store->lock_ = std::move(lock);
  FIRN_TRY(store->Prepare().In("state"));
  return store;
}

Result<std::unique_ptr<StateStore>> StateStore::OpenToRead(const std::string& path) {
  FIRN_ASSIGN(auto database, ports::SqliteDatabase::Open(path, {.create = false}));
  std::unique_ptr<StateStore> store(new StateStore(std::move(database), {}));
  FIRN_ASSIGN(const auto named, store->database_->Run("SELECT 1 FROM sqlite_master WHERE name = 'named'"));
  if (named.rows.empty()) return Error{Code::kInvalidArgument, path + ": no state file of firn"};
  FIRN_ASSIGN(const std::string version, store->Get("version").In("state"));
  if (version == kVersion) return store;
  return Error{Code::kUnsupported,
               fmt::format("{}: state of version `{}`, this firn reads version {}", path, version, kVersion)};
}

Status StateStore::Prepare() {
  FIRN_TRY(database_->Run("PRAGMA journal_mode = WAL"));
  FIRN_TRY(database_->Run("PRAGMA synchronous = FULL"));
  FIRN_ASSIGN(const auto check, database_->Run("PRAGMA quick_check(1)"));
  if (check.rows.size() != 1 || check.rows[0][0] != "ok") {
    return Error{Code::kCorrupt,
                 database_->path() + ": the file is damaged: move it away, and every table is looked at anew"};
  }
  FIRN_ASSIGN(const auto foreign, database_->Run("SELECT count(*), sum(name = 'named') FROM sqlite_master WHERE type = "
                                                 "'table' AND name NOT LIKE 'sqlite%'"));
  if (NumberOf(foreign.rows.at(0)[0]) > 0 && NumberOf(foreign.rows[0][1]) == 0) {
    return Error{Code::kInvalidArgument, database_->path() + ": a database of somebody else, no state file of firn"};
  }
  for (const char* statement : kSchema) FIRN_TRY(database_->Run(statement));
  FIRN_ASSIGN(const std::string version, Get("version"));
  if (version.empty()) FIRN_TRY(Set("version", kVersion));
  if (!version.empty() && version != kVersion) {
    return Error{Code::kUnsupported, fmt::format("{}: state of version `{}`, this firn reads version {}",
                                                 database_->path(), version, kVersion)};
  }
  FIRN_ASSIGN(const auto newest, database_->Run("SELECT max(id) FROM decisions"));
  next_decision_ = newest.rows.empty() ? 1 : NumberOf(newest.rows[0][0]) + 1;
  return Ok();
}

/// What could not be written before, unless `update` has something newer of the same.
void StateStore::AddKept(const StateUpdate& update, std::vector<ports::SqlStatement>& statements) const {
  for (const auto& [id, job] : kept_jobs_) {
    if (update.job == nullptr || update.job->id != id) AddJob(job, statements);
  }
  for (const auto& [id, request] : kept_requests_) {
    if (std::ranges::count(update.requests, id, &RequestRow::id) == 0) AddRequest(request, statements);
  }
  for (const decide::Decision& decision : kept_decisions_) AddDecision(decision, statements);
}

void StateStore::Keep(const StateUpdate& update) {
  // What is kept already is always brought up to date: the state would otherwise go back to what it was.
  const auto has_room = [](const auto& kept, const auto& id) { return kept.size() < kKeptMax || kept.contains(id); };
  if (update.job != nullptr && has_room(kept_jobs_, update.job->id)) {
    kept_jobs_.insert_or_assign(update.job->id, *update.job);
  }
  for (const RequestRow& request : update.requests) {
    if (has_room(kept_requests_, request.id)) kept_requests_.insert_or_assign(request.id, request);
  }
  for (const decide::Decision& decision : update.decisions) {
    if (kept_decisions_.size() < kKeptMax) kept_decisions_.push_back(decision);
  }
}

Status StateStore::Write(StateUpdate& update) {
  std::vector<ports::SqlStatement> statements;
  if (update.table != nullptr) AddTable(*update.table, update.has_partitions, statements);
  if (update.table != nullptr && update.trend != nullptr) AddTrendTo(update.table->row.id, *update.trend, statements);
  if (update.job != nullptr) AddJob(*update.job, statements);
  if (update.analysis != nullptr) AddAnalysis(*update.analysis, statements);
  for (const RequestRow& request : update.requests) AddRequest(request, statements);
  const std::lock_guard lock(mutex_);
  for (decide::Decision& decision : update.decisions) {
    decision.id = next_decision_++;
    decision = decide::Bounded(std::move(decision));
    AddDecision(decision, statements);
  }
  AddKept(update, statements);
  if (statements.empty()) return Ok();
  Status written = database_->WriteAll(statements).In("state");
  if (written) {
    kept_jobs_.clear();
    kept_requests_.clear();
    kept_decisions_.clear();
  } else if (update.is_kept) {
    Keep(update);
  }
  return written;
}

Status StateStore::RemoveTable(std::string_view id) {
  const ports::SqlStatement statements[] = {{"DELETE FROM tables WHERE id = ?1", {std::string(id)}},
                                            {"DELETE FROM trends WHERE table_id = ?1", {std::string(id)}},
                                            {"DELETE FROM analyses WHERE table_id = ?1", {std::string(id)}}};
  return database_->WriteAll(statements).In("state");
}

Status StateStore::AddTrend(const std::string& table, const TrendPoint& point) {
  std::vector<ports::SqlStatement> statements;
  AddTrendTo(table, point, statements);
  return database_->WriteAll(statements).In("state");
}

Status StateStore::Prune() {
  const ports::SqlStatement statements[] = {
      {"DELETE FROM decisions WHERE id <= (SELECT max(id) FROM decisions) - CAST(?1 AS INTEGER)",
       {Digits(limits_.decisions_max)}},
      {"DELETE FROM jobs WHERE state NOT IN ('waiting', 'running') AND id < (SELECT id FROM jobs ORDER BY id DESC "
       "LIMIT 1 "
       "OFFSET CAST(?1 AS INTEGER))",
       {Digits(limits_.jobs_max)}},
      {"DELETE FROM requests WHERE is_open = '0' AND id < (SELECT id FROM requests ORDER BY id DESC LIMIT 1 OFFSET "
       "CAST(?1 AS INTEGER))",
       {Digits(limits_.jobs_max)}},
  };
  return database_->WriteAll(statements).In("state");
}

Result<std::vector<TableRecord>> StateStore::Tables() {
  FIRN_ASSIGN(auto found, database_->Run("SELECT row, paused, has_work, histogram, savings, learned, partitions FROM "
                                         "tables ORDER BY id"));
  std::vector<TableRecord> tables;
  for (ports::SqlRow& row : found.rows) {
    TableRecord table;
    FIRN_ASSIGN(table.row, RowOf<TableRow>(row[0]));
    table.paused = row[1] == "1";
    table.has_work = row[2] == "1";
    FIRN_ASSIGN(table.histogram, RowOf<Histogram>(row[3]));
    FIRN_ASSIGN(table.savings, RowOf<Savings>(row[4]));
    table.learned = TextOf(row[5]);
    table.partitions = TextOf(row[6]);
    tables.push_back(std::move(table));
  }
  return tables;
}

Result<std::vector<TableRow>> StateStore::TableRows() {
  FIRN_ASSIGN(const auto found, database_->Run("SELECT row FROM tables ORDER BY id"));
  std::vector<TableRow> rows;
  for (const ports::SqlRow& row : found.rows) {
    FIRN_ASSIGN(rows.emplace_back(), RowOf<TableRow>(row[0]));
  }
  return rows;
}

Result<std::vector<TrendPoint>> StateStore::Trends(std::string_view table) {
  FIRN_ASSIGN(
      const auto found,
      database_->Run("SELECT ms, files, bytes, entropy FROM trends WHERE table_id = ?1 ORDER BY ms DESC LIMIT 500",
                     {table}));
  std::vector<TrendPoint> points;
  for (const ports::SqlRow& row : found.rows) {
    points.push_back(
        {NumberOf(row[0]), NumberOf(row[1]), NumberOf(row[2]), row[3] ? std::strtod(row[3]->c_str(), nullptr) : 0});
  }
  std::ranges::reverse(points);
  return points;
}

Result<Page<DecisionRow>> StateStore::Decisions(const DecisionFilter& filter, const PageOf& page) {
  std::int64_t before = INT64_MAX;
  if (!page.after.empty()) {
    const char* end = page.after.data() + page.after.size();
    const auto parsed = std::from_chars(page.after.data(), end, before);
    if (parsed.ptr != end || parsed.ec != std::errc() || before < 0) {
      return Error{Code::kInvalidArgument, "`after` is no cursor of this list"};
    }
  }
  // The index on tables is used only where the condition is a plain equality.
  const std::string table = filter.table.empty() ? "?2 = ''" : "table_id = ?2";
  FIRN_ASSIGN(
      auto found,
      database_->Run(fmt::format("SELECT id, table_id, partition, kind, ms, json FROM decisions WHERE id < CAST(?1 "
                                 "AS INTEGER) AND {} AND (?3 = '' OR partition = ?3) AND (?4 = '' OR kind = ?4) "
                                 "ORDER BY id DESC LIMIT {}",
                                 table, LimitOf(page) + 1),
                     {Digits(before), filter.table, filter.partition, filter.kind}));
  std::vector<DecisionRow> rows;
  for (ports::SqlRow& row : found.rows) {
    rows.push_back({TextOf(row[0]), TextOf(row[1]), TextOf(row[2]), TextOf(row[3]), NumberOf(row[4]), TextOf(row[5])});
  }
  return PageFrom(std::move(rows), LimitOf(page), [](const DecisionRow& row) { return row.id; });
}

Result<Page<JobRow>> StateStore::Jobs(const JobFilter& filter, const PageOf& page) {
  FIRN_TRY(CheckIdCursor(page.after));
  const std::string table = filter.table.empty() ? "?2 = ''" : "table_id = ?2";
  FIRN_ASSIGN(
      const auto found,
      database_->Run(fmt::format("SELECT row FROM jobs WHERE (?1 = '' OR id < ?1) AND {} AND (?3 = '' OR state = "
                                 "?3) ORDER BY id DESC LIMIT {}",
                                 table, LimitOf(page) + 1),
                     {page.after, filter.table, filter.state ? Word(*filter.state) : std::string_view()}));
  FIRN_ASSIGN(std::vector<JobRow> jobs, JobsOf(found));
  return PageFrom(std::move(jobs), LimitOf(page), [](const JobRow& row) { return row.id; });
}

Result<Page<JobRow>> StateStore::EndedJobs(std::string_view table_or_empty, const PageOf& page) {
  FIRN_TRY(CheckIdCursor(page.after));
  const std::string table = table_or_empty.empty() ? "?2 = ''" : "table_id = ?2";
  FIRN_ASSIGN(
      const auto found,
      database_->Run(fmt::format("SELECT row FROM jobs WHERE measured = '1' AND (?1 = '' OR id < ?1) AND {} ORDER "
                                 "BY id DESC LIMIT {}",
                                 table, LimitOf(page) + 1),
                     {page.after, table_or_empty}));
  FIRN_ASSIGN(std::vector<JobRow> jobs, JobsOf(found));
  auto made = PageFrom(std::move(jobs), LimitOf(page), [](const JobRow& row) { return row.id; });
  // The column says so, but the row is what is read: an older or newer program may have written it.
  std::erase_if(made.items, [](const JobRow& row) { return !row.measured; });
  return made;
}

Result<JobRow> StateStore::Job(std::string_view id) {
  FIRN_ASSIGN(const auto found, database_->Run("SELECT row FROM jobs WHERE id = ?1", {id}));
  if (found.rows.empty()) return Error{Code::kNotFound, fmt::format("there is no job `{}`", id)};
  return RowOf<JobRow>(found.rows[0][0]);
}

Result<Page<RequestRow>> StateStore::Requests(const PageOf& page) {
  FIRN_TRY(CheckIdCursor(page.after));
  FIRN_ASSIGN(const auto found,
              database_->Run(fmt::format("SELECT row FROM requests WHERE ?1 = '' OR id < ?1 ORDER BY id "
                                         "DESC LIMIT {}",
                                         LimitOf(page) + 1),
                             {page.after}));
  std::vector<RequestRow> rows;
  for (const ports::SqlRow& row : found.rows) {
    FIRN_ASSIGN(RequestRow request, RowOf<RequestRow>(row[0]));
    rows.push_back(std::move(request));
  }
  return PageFrom(std::move(rows), LimitOf(page), [](const RequestRow& row) { return row.id; });
}

Result<std::vector<RequestRow>> StateStore::OpenRequests() {
  FIRN_ASSIGN(const auto found, database_->Run("SELECT row FROM requests WHERE is_open = '1' ORDER BY id"));
  std::vector<RequestRow> rows;
  for (const ports::SqlRow& row : found.rows) {
    FIRN_ASSIGN(RequestRow request, RowOf<RequestRow>(row[0]));
    rows.push_back(std::move(request));
  }
  return rows;
}

}  // namespace firn::service
