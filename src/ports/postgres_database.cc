// SPDX-License-Identifier: Apache-2.0
#include "ports/postgres_database.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/text_parts.h"

namespace firn::ports {
namespace {

constexpr unsigned kTextOid = 25;
// The server gives up first, so that its word decides; a server that is silent is given up a little later.
constexpr int kGraceMs = 5'000;
constexpr int kIdleInTransactionMs = 60'000;

std::int64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// libpq ends its messages with a line break.
std::string MessageText(const char* text) { return OneLine(Trimmed(text ? text : "", " \n")); }

Code CodeOf(std::string_view state) {
  if (state == "40001") return Code::kConflict;
  if (state == "42P01" || state == "3D000") return Code::kNotFound;
  if (state == "42501" || state.starts_with("28") || state.starts_with("22")) return Code::kInvalidArgument;
  if (state == "53100" || state == "53200" || state.starts_with("54")) return Code::kLimit;
  if (state.starts_with("23")) return Code::kConflict;
  if (state == "XX001" || state == "XX002") return Code::kCorrupt;
  if (state.starts_with("42") || state.starts_with("26") || state.starts_with("08P")) return Code::kInternal;
  return Code::kUnavailable;  // timeouts, locks, shutdown, a server that only reads
}

/// Whether an error of COMMIT proves that nothing was committed: constraints that were deferred, and conflicts. Others
/// may come from a pooler in between, after the server has committed.
bool IsRolledBack(std::string_view state) {
  return state.starts_with("23") || state == "40001" || state == "40002" || state == "40P01";
}

std::string_view StateOf(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state ? state : "";
}

void LogNotice(void*, const char* text) { Log(LogLevel::kDebug, "PostgreSQL: " + MessageText(text)); }

struct Keywords {
  std::vector<const char*> names, values;
  void Add(const char* name, const char* value) {
    names.push_back(name);
    values.push_back(value);
  }
};

}  // namespace

void PostgresDatabase::EndConnection::operator()(pg_conn* connection) const { PQfinish(connection); }
void PostgresDatabase::EndResult::operator()(pg_result* result) const { PQclear(result); }
PostgresDatabase::~PostgresDatabase() = default;

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::Open(const std::string& uri, Options options) {
  std::unique_ptr<PostgresDatabase> database(new PostgresDatabase(uri, options));
  FIRN_TRY(database->Connect());
  return database;
}

Status PostgresDatabase::Connect() {
  char* fault = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(PQconninfoParse(uri_.c_str(), &fault),
                                                                            &PQconninfoFree);
  // libpq quotes what it does not understand, which may be a password.
  PQfreemem(fault);
  if (!parsed) {
    return Error{Code::kInvalidArgument,
                 "SQL catalog: property `uri`: libpq does not understand it (are special characters in user, password "
                 "and parameters written as %XX, and are the parameters those of libpq?)"};
  }
  const std::string connect_timeout = std::to_string(options_.connect_timeout_s);
  const std::string unanswered_ms = std::to_string(options_.statement_timeout_ms);
  // The first of two equal keywords is under the second, so that the URI is above these.
  Keywords words;
  words.Add("connect_timeout", connect_timeout.c_str());
  words.Add("tcp_user_timeout", unanswered_ms.c_str());
  words.Add("keepalives_idle", "30");
  words.Add("fallback_application_name", "firn");
  for (const PQconninfoOption* option = parsed.get(); option->keyword; ++option) {
    if (option->val) words.Add(option->keyword, option->val);
  }
  words.Add("client_encoding", "UTF8");
  words.Add(nullptr, nullptr);
  connection_.reset(PQconnectdbParams(words.names.data(), words.values.data(), 0));
  if (!connection_) return Error{Code::kLimit, "out of memory for a PostgreSQL connection"};
  PQsetNoticeProcessor(connection_.get(), LogNotice, nullptr);
  const auto text = [](const char* value) { return std::string(value ? value : ""); };
  if (place_ == kNoPlace) {  // once, by Open: other threads read it
    place_ = fmt::format("postgresql://{}:{}/{}", text(PQhost(connection_.get())), text(PQport(connection_.get())),
                         text(PQdb(connection_.get())));
  }
  if (PQstatus(connection_.get()) == CONNECTION_OK && PQsetnonblocking(connection_.get(), 1) == 0) return Ok();
  Error error = ConnectError();
  connection_.reset();
  return error;
}

/// A connection that is refused has no SQLSTATE.
Error PostgresDatabase::ConnectError() {
  const std::string text = MessageText(PQerrorMessage(connection_.get()));
  Code code = Code::kUnavailable;
  if (PQconnectionNeedsPassword(connection_.get()) || text.find("authentication failed") != std::string::npos ||
      text.find("no pg_hba.conf entry") != std::string::npos) {
    code = Code::kInvalidArgument;
  } else if (text.find("FATAL:  database \"") != std::string::npos && text.ends_with("does not exist")) {
    code = Code::kNotFound;
  }
  return {code, fmt::format("{}: {}", place_, text)};
}

/// A server that was started again has closed the connection; that shows before anything is sent.
Status PostgresDatabase::Ready() {
  if (connection_) {
    // The server's last words come before the end of the connection, and each is one reading.
    constexpr int kReadingsMax = 16;
    bool is_good = true;
    for (int count = 0; is_good && count < kReadingsMax; ++count) {
      pollfd readable{PQsocket(connection_.get()), POLLIN, 0};
      if (::poll(&readable, 1, 0) <= 0) break;
      is_good = PQconsumeInput(connection_.get()) == 1;
    }
    if (is_good && PQstatus(connection_.get()) == CONNECTION_OK) return Ok();
  }
  return Connect();
}

Result<SqlResult> PostgresDatabase::Run(std::string_view sql, Values values) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(Ready());
  return Execute(sql, std::span(values.begin(), values.size()));
}

Result<std::vector<std::string>> PostgresDatabase::Columns(std::string_view table) {
  FIRN_ASSIGN(const SqlResult found,
              Run("SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(?1) AND attnum > 0 AND "
                  "NOT attisdropped",
                  {table}));
  std::vector<std::string> names;
  for (const SqlRow& row : found.rows) names.push_back(row[0].value_or(""));
  return names;
}

Result<SqlResult> PostgresDatabase::RunSettled(std::string_view sql, Values values) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(Ready());
  FIRN_TRY(Begin());
  auto found = Execute(std::string(sql) + " FOR UPDATE", std::span(values.begin(), values.size()));
  if (connection_) (void)Execute("ROLLBACK", {});
  return found;
}

Result<SqlResult> PostgresDatabase::WriteOnce(std::string_view sql, Values values) {
  const std::lock_guard lock(mutex_);
  FIRN_TRY(Ready());
  FIRN_TRY(Begin());
  auto changed = Execute(sql, std::span(values.begin(), values.size()));
  if (!changed) {
    // Without COMMIT the server takes it back, also when it cannot be told to.
    if (connection_) (void)Execute("ROLLBACK", {});
    return changed;
  }
  FIRN_TRY(Commit());
  return changed;
}

Status PostgresDatabase::Begin() {
  // Every statement is then decided on the newest state of its rows, after waiting for others. SET LOCAL, because
  // poolers share a session.
  FIRN_TRY(Execute("BEGIN ISOLATION LEVEL READ COMMITTED", {}));
  const std::string limits = fmt::format(
      "SELECT set_config('statement_timeout', '{}', true), "
      "set_config('idle_in_transaction_session_timeout', '{}', true)",
      options_.statement_timeout_ms, kIdleInTransactionMs);
  auto limited = Execute(limits, {});
  if (limited) return Ok();
  if (connection_) (void)Execute("ROLLBACK", {});
  return std::move(limited.error());
}

Status PostgresDatabase::Commit() {
  if (Status sent = Send("COMMIT", {}); !sent) {
    sent.error().code = Code::kOutcomeUnknown;
    return sent;
  }
  auto result = Await();
  if (!result) {
    result.error().code = Code::kOutcomeUnknown;
    return std::move(result.error());
  }
  if (PQresultStatus(result->get()) == PGRES_COMMAND_OK) {
    if (std::string_view(PQcmdStatus(result->get())) == "COMMIT") return Ok();
    return Error{Code::kUnavailable, place_ + ": the server has rolled the transaction back"};
  }
  const bool is_rolled_back = IsRolledBack(StateOf(result->get()));
  Error error = Refused(*result);
  if (!is_rolled_back) error.code = Code::kOutcomeUnknown;
  return error;
}

Result<SqlResult> PostgresDatabase::Execute(std::string_view sql, std::span<const std::string_view> values) {
  FIRN_TRY(Send(sql, values));
  FIRN_ASSIGN(const ResultPtr answer, Await());
  const PGresult* result = answer.get();
  const auto status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return Refused(answer);
  SqlResult made;
  for (int i = 0; i < PQntuples(result); ++i) {
    SqlRow row;
    for (int k = 0; k < PQnfields(result); ++k) {
      const auto size = static_cast<std::size_t>(PQgetlength(result, i, k));
      row.push_back(PQgetisnull(result, i, k) ? std::nullopt
                                              : std::optional(std::string(PQgetvalue(result, i, k), size)));
    }
    made.rows.push_back(std::move(row));
  }
  made.changed_rows = std::atoi(PQcmdTuples(const_cast<PGresult*>(result)));
  return made;
}

Status PostgresDatabase::Send(std::string_view sql, std::span<const std::string_view> values) {
  std::string text(sql);
  std::ranges::replace(text, '?', '$');
  std::vector<std::string> ended(values.begin(), values.end());
  std::vector<const char*> pointers;
  for (const std::string& value : ended) {
    if (value.find('\0') != std::string::npos) {
      return Error{Code::kInvalidArgument, place_ + ": PostgreSQL keeps no text with a zero byte"};
    }
    pointers.push_back(value.c_str());
  }
  const std::vector<unsigned> types(values.size(), kTextOid);
  if (PQsendQueryParams(connection_.get(), text.c_str(), static_cast<int>(values.size()), types.data(), pointers.data(),
                        nullptr, nullptr, 0) == 1) {
    return Ok();
  }
  return Lost("send");
}

/// The answer to one statement, whatever it says; an error means that there is none, and the connection is given up.
Result<PostgresDatabase::ResultPtr> PostgresDatabase::Await() {
  const std::int64_t end_ms = NowMs() + options_.statement_timeout_ms + kGraceMs;
  ResultPtr answer;
  while (true) {
    const int unsent = PQflush(connection_.get());
    if (unsent < 0) return Lost("send");
    if (unsent > 0 || PQisBusy(connection_.get())) {
      FIRN_TRY(Wait(static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN), end_ms));
      if (PQconsumeInput(connection_.get()) == 0) return Lost("receive");
      continue;
    }
    ResultPtr next(PQgetResult(connection_.get()));
    if (!next) break;
    const auto status = PQresultStatus(next.get());
    const bool is_failure = status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE;
    const char* severity = is_failure ? PQresultErrorField(next.get(), PG_DIAG_SEVERITY_NONLOCALIZED) : nullptr;
    // A server that shuts down says so and hangs up; libpq's own failures have no severity.
    if (is_failure && (!severity || std::strcmp(severity, "ERROR") != 0)) {
      Error error = Refused(next);
      connection_.reset();
      return error;
    }
    if (!answer) answer = std::move(next);
  }
  if (!answer || PQstatus(connection_.get()) != CONNECTION_OK) return Lost("receive");
  return answer;
}

Status PostgresDatabase::Wait(short events, std::int64_t end_ms) {
  while (true) {
    const std::int64_t left_ms = end_ms - NowMs();
    pollfd socket{PQsocket(connection_.get()), events, 0};
    const int ready = left_ms <= 0 ? 0 : ::poll(&socket, 1, static_cast<int>(left_ms));
    if (ready > 0) return Ok();
    if (ready < 0 && errno == EINTR) continue;
    const int waited_ms = options_.statement_timeout_ms + kGraceMs;
    connection_.reset();
    return Error{Code::kUnavailable, fmt::format("{}: no answer in {} ms", place_, waited_ms)};
  }
}

Error PostgresDatabase::Lost(std::string_view what) {
  Error error{Code::kUnavailable, fmt::format("{}: {}: the connection was lost: {}", place_, what,
                                              MessageText(PQerrorMessage(connection_.get())))};
  connection_.reset();
  return error;
}

Error PostgresDatabase::Refused(const ResultPtr& result) {
  const std::string_view state = StateOf(result.get());
  Error error{CodeOf(state),
              fmt::format("{}: {} (SQLSTATE {})", place_, MessageText(PQresultErrorMessage(result.get())),
                          state.empty() ? "none" : state)};
  // After a failover the old server only reads; the name may lead to the new one.
  if (state == "25006") connection_.reset();
  return error;
}

}  // namespace firn::ports
