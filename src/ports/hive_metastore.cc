// SPDX-License-Identifier: Apache-2.0
#include "ports/hive_metastore.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "ports/http.h"
#include "ports/processes.h"

namespace firn::ports {

using thrift::Type;
using thrift::Value;

/// An exception that a method declares: its field in the result, its name, and what it means.
struct HiveFault {
  std::int16_t id;
  const char* name;
  Code code;
};

struct HiveMetastore::Method {
  const char* name;
  bool may_change;
  std::span<const HiveFault> faults;
  /// Of what is returned; none for void.
  std::optional<Type> returns;
  std::int64_t grace_ms = kReadGraceMs;
};

namespace {

constexpr std::size_t kIdleMax = 8;
constexpr std::size_t kReasonBytesMax = 500;
constexpr std::int32_t kUnknownMethod = 1;  // of TApplicationException
constexpr std::int32_t kExclusive = 3, kOfTable = 2;

constexpr std::array<HiveFault, 1> kPlainFaults = {{{1, "MetaException", Code::kUnavailable}}};
constexpr std::array<HiveFault, 2> kEntryFaults = {
    {{1, "MetaException", Code::kUnavailable}, {2, "NoSuchObjectException", Code::kNotFound}}};
constexpr std::array<HiveFault, 3> kEntriesFaults = {{{1, "MetaException", Code::kUnavailable},
                                                      {2, "InvalidOperationException", Code::kInvalidArgument},
                                                      {3, "UnknownDBException", Code::kNotFound}}};
// MetaException may also be that of a database that was lost while it committed.
constexpr std::array<HiveFault, 2> kAlterFaults = {
    {{1, "InvalidOperationException", Code::kInvalidArgument}, {2, "MetaException", Code::kOutcomeUnknown}}};
constexpr std::array<HiveFault, 2> kLockFaults = {
    {{1, "NoSuchTxnException", Code::kUnavailable}, {2, "TxnAbortedException", Code::kUnavailable}}};
constexpr std::array<HiveFault, 3> kCheckFaults = {{{1, "NoSuchTxnException", Code::kNotFound},
                                                    {2, "TxnAbortedException", Code::kNotFound},
                                                    {3, "NoSuchLockException", Code::kNotFound}}};
constexpr std::array<HiveFault, 2> kUnlockFaults = {
    {{1, "NoSuchLockException", Code::kNotFound}, {2, "TxnOpenException", Code::kInvalidArgument}}};

/// Kinds of connections that PyIceberg and Java can be told to make.
constexpr std::array<std::pair<const char*, const char*>, 5> kRefused = {
    {{"hive.kerberos-authentication", "Kerberos"},
     {"hive.metastore.sasl.enabled", "Kerberos"},
     {"hive.metastore.use.SSL", "TLS"},
     {"hive.metastore.thrift.framed.transport.enabled", "frames"},
     {"hive.metastore.thrift.compact.protocol.enabled", "Thrift's compact protocol"}}};

std::vector<std::string> TextsOf(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& element : list.elements) texts.push_back(element.text);
  return texts;
}

Value TextList(const std::vector<std::string>& texts) {
  std::vector<Value> elements;
  for (const std::string& text : texts) elements.push_back(Value::Text(text));
  return Value::List(Type::kString, std::move(elements));
}

HiveLockTicket TicketOf(const Value& found, std::int16_t state_id) {
  const std::int64_t state = found.NumberOf(state_id, Type::kI32);
  const bool is_known = state >= 1 && state <= 4;  // another one is no lock
  return {.id = found.NumberOf(1, Type::kI64),
          .state = is_known ? HiveLockState{static_cast<std::uint8_t>(state)} : HiveLockState::kNotAcquired};
}

}  // namespace

Result<std::vector<HiveAddress>> ParseHiveUri(std::string_view uri) {
  std::vector<HiveAddress> addresses;
  for (const std::string_view part : Split(uri, ',')) {
    constexpr std::string_view kScheme = "thrift://";
    std::string_view one = Trimmed(part, " ");
    while (one.ends_with('/')) one.remove_suffix(1);
    if (!one.starts_with(kScheme)) {
      return Error{Code::kInvalidArgument, "property `uri`: it has to be thrift://HOST:PORT, several with commas"};
    }
    one.remove_prefix(kScheme.size());
    const std::size_t bracket = one.starts_with('[') ? one.find(']') : 0;
    const std::size_t colon = bracket == std::string_view::npos ? bracket : one.find(':', bracket);
    HiveAddress address{.host = std::string(one.substr(0, colon)), .port = "9083"};
    if (bracket > 0 && bracket != std::string_view::npos) address.host = std::string(one.substr(1, bracket - 1));
    if (colon != std::string_view::npos) address.port = std::string(one.substr(colon + 1));
    const bool has_port =
        !address.port.empty() && address.port.size() <= 5 && std::ranges::all_of(address.port, IsAsciiDigit);
    if (address.host.empty() || !has_port || bracket == std::string_view::npos ||
        address.host.find_first_of("@/?") != std::string::npos) {
      return Error{Code::kInvalidArgument, "property `uri`: a server in it is not thrift://HOST:PORT"};
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

Result<std::unique_ptr<HiveMetastore>> HiveMetastore::Open(const Properties& properties,
                                                           const std::atomic<bool>* stop) {
  for (const auto& [property, what] : kRefused) {
    FIRN_ASSIGN(const bool is_wanted, BoolProperty(properties, property, false));
    if (!is_wanted) continue;
    return Error{
        Code::kUnsupported,
        fmt::format("property `{}`: {}: only plain connections to a metastore are supported (a REST catalog in "
                    "front of it is another way)",
                    property, what)};
  }
  FIRN_ASSIGN(auto addresses, ParseHiveUri(PropertyOr(properties, "uri", "")));
  std::vector<std::string> user;
  const std::string ugi = PropertyOr(properties, "ugi", "");
  for (const std::string_view name : Split(ugi, ':')) {
    if (!name.empty()) user.emplace_back(name);
  }
  return std::unique_ptr<HiveMetastore>(new HiveMetastore(std::move(addresses), std::move(user), stop));
}

Result<std::unique_ptr<HiveConnection>> HiveMetastore::Connect() {
  std::size_t first = 0;
  {
    const std::lock_guard lock(mutex_);
    first = first_;
  }
  Error fault{Code::kUnavailable, "no server"};
  for (std::size_t i = 0; i < addresses_.size() && (i == 0 || !IsStopped()); ++i) {
    const std::size_t at = (first + i) % addresses_.size();
    auto connection = HiveConnection::Open(addresses_[at], {.stop = stop_});
    Status ready = connection ? SetUser(**connection) : Status(std::move(connection.error()));
    if (ready) {
      const std::lock_guard lock(mutex_);
      first_ = at;
      return connection;
    }
    fault = std::move(ready.error());
  }
  return fault;
}

/// Who asks, for servers that act in the name of their clients.
Status HiveMetastore::SetUser(HiveConnection& connection) {
  if (user_.empty()) return Ok();
  const std::vector<std::string> groups(user_.begin() + 1, user_.end());
  auto reply =
      connection.Call("set_ugi", Value::Struct({{1, Value::Text(user_[0])}, {2, TextList(groups)}}), kReadGraceMs);
  if (!reply) return Error{Code::kUnavailable, std::move(reply.error().message)};
  if (reply->kind == thrift::Answer::kReply && !reply->result.Find(1, Type::kStruct)) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("{}: set_ugi: refused for the user of property `ugi`", connection.place())};
}

Result<std::unique_ptr<HiveConnection>> HiveMetastore::Take(bool may_reuse, bool& is_reused) {
  is_reused = false;
  while (may_reuse) {
    std::unique_ptr<HiveConnection> connection;
    {
      const std::lock_guard lock(mutex_);
      if (idle_.empty()) break;
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    if (!connection->IsIdle()) continue;
    is_reused = true;
    return connection;
  }
  return Connect();
}

Result<Value> HiveMetastore::CallOnce(const Method& method, const Value& arguments, bool may_reuse, Attempt& attempt) {
  FIRN_ASSIGN(auto connection, Take(may_reuse, attempt.is_reused));
  FIRN_ASSIGN(thrift::Reply reply, connection->Call(method.name, arguments, method.grace_ms));
  const std::string context = fmt::format("{}: {}", connection->place(), method.name);
  {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kIdleMax) idle_.push_back(std::move(connection));
  }
  attempt.was_answered = true;
  if (reply.kind == thrift::Answer::kException) {
    const bool is_unknown = reply.result.NumberOf(2, Type::kI32) == kUnknownMethod;
    const Code code = is_unknown ? Code::kUnsupported : method.may_change ? Code::kOutcomeUnknown : Code::kUnavailable;
    return Error{code, fmt::format("{}: {}", context, OneLine(reply.result.TextOf(1), kReasonBytesMax))};
  }
  for (const HiveFault& fault : method.faults) {
    if (const Value* found = reply.result.Find(fault.id, Type::kStruct)) {
      return Error{fault.code,
                   fmt::format("{}: {}: {}", context, fault.name, OneLine(found->TextOf(1), kReasonBytesMax))};
    }
  }
  if (!method.returns) return Value{};
  Value* returned = reply.result.Find(0, *method.returns);
  if (returned != nullptr) return std::move(*returned);
  return Error{method.may_change ? Code::kOutcomeUnknown : Code::kUnavailable,
               context + ": the reply holds neither a result nor an error that is known"};
}

Result<Value> HiveMetastore::Call(const Method& method, const Value& arguments, bool* was_answered) {
  Attempt attempt;
  auto result = CallOnce(method, arguments, /*may_reuse=*/true, attempt);
  // A server that was started again has closed the connections that were kept.
  const bool is_lost =
      !result && attempt.is_reused && !attempt.was_answered && !IsStopped() && result.error().code != Code::kLimit;
  if (is_lost && (!method.may_change || result.error().code == Code::kUnavailable)) {
    result = CallOnce(method, arguments, /*may_reuse=*/false, attempt);
  }
  if (!result && !method.may_change && result.error().code == Code::kOutcomeUnknown) {
    result.error().code = Code::kUnavailable;
  }
  if (!result && method.may_change && result.error().code == Code::kLimit) {
    result.error().code = Code::kOutcomeUnknown;
  }
  if (was_answered != nullptr) *was_answered = attempt.was_answered;
  return result;
}

Result<std::string> HiveMetastore::Version() {
  FIRN_ASSIGN(Value version, Call({"getVersion", false, {}, Type::kString}, Value{}));
  return std::move(version.text);
}

Result<std::vector<std::string>> HiveMetastore::Databases() {
  FIRN_ASSIGN(const Value names, Call({"get_all_databases", false, kPlainFaults, Type::kList}, Value{}));
  return TextsOf(names);
}

Result<std::vector<std::string>> HiveMetastore::Tables(const std::string& database) {
  FIRN_ASSIGN(const Value names,
              Call({"get_all_tables", false, kPlainFaults, Type::kList}, Value::Struct({{1, Value::Text(database)}})));
  return TextsOf(names);
}

Result<std::vector<Value>> HiveMetastore::Entries(const std::string& database, const std::vector<std::string>& tables) {
  const Value request = Value::Struct({{1, Value::Text(database)}, {2, TextList(tables)}});
  FIRN_ASSIGN(Value found, Call({"get_table_objects_by_name_req", false, kEntriesFaults, Type::kStruct},
                                Value::Struct({{1, request}})));
  Value* entries = found.Find(1, Type::kList);
  return entries ? std::move(entries->elements) : std::vector<Value>{};
}

Result<Value> HiveMetastore::Entry(const std::string& database, const std::string& table) {
  const Value request = Value::Struct({{1, Value::Text(database)}, {2, Value::Text(table)}});
  FIRN_ASSIGN(Value found, Call({"get_table_req", false, kEntryFaults, Type::kStruct}, Value::Struct({{1, request}})));
  Value* entry = found.Find(1, Type::kStruct);
  if (entry) return std::move(*entry);
  return Error{Code::kUnavailable, "get_table_req: the reply has no table"};
}

Status HiveMetastore::Alter(const std::string& database, const std::string& table, Value entry,
                            const std::string& expected, bool& was_answered) {
  Value environment = Value::TextMap();
  environment.SetKey("DO_NOT_UPDATE_STATS", "true");  // or the server lists the table's directory
  environment.SetKey("expected_parameter_key", "metadata_location");
  environment.SetKey("expected_parameter_value", expected);
  const auto done = Call({"alter_table_with_environment_context", true, kAlterFaults, {}, kChangeGraceMs},
                         Value::Struct({{1, Value::Text(database)},
                                        {2, Value::Text(table)},
                                        {3, std::move(entry)},
                                        {4, Value::Struct({{1, std::move(environment)}})}}),
                         &was_answered);
  if (done) return Ok();
  Error error = done.error();
  // Thrown before anything is changed, but perhaps by a repetition of what had been done.
  if (error.message.find("The table has been modified. The parameter value for key") != std::string::npos) {
    error.code = Code::kConflict;
  }
  return error;
}

Result<HiveLockTicket> HiveMetastore::Lock(const std::string& database, const std::string& table,
                                           const std::string& agent) {
  const Value component = Value::Struct(
      {{1, Value::I32(kExclusive)}, {2, Value::I32(kOfTable)}, {3, Value::Text(database)}, {4, Value::Text(table)}});
  const std::string host = HostName();
  const Value request = Value::Struct({{1, Value::List(Type::kStruct, {component})},
                                       {3, Value::Text(user_.empty() ? "firn" : user_[0])},
                                       {4, Value::Text(host.empty() ? "localhost" : host)},
                                       {5, Value::Text(agent)}});
  FIRN_ASSIGN(const Value made, Call({"lock", true, kLockFaults, Type::kStruct}, Value::Struct({{1, request}})));
  return TicketOf(made, 2);
}

Result<std::optional<HiveLockTicket>> HiveMetastore::FindLock(const std::string& database, const std::string& table,
                                                              const std::string& agent) {
  const Value request = Value::Struct({{1, Value::Text(database)}, {2, Value::Text(table)}, {4, Value::Bool(false)}});
  FIRN_ASSIGN(const Value shown, Call({"show_locks", false, {}, Type::kStruct}, Value::Struct({{1, request}})));
  const Value* locks = shown.Find(1, Type::kList);
  for (const Value& lock : locks ? locks->elements : std::vector<Value>{}) {
    if (lock.TextOf(13) == agent) return std::optional(TicketOf(lock, 5));
  }
  return std::optional<HiveLockTicket>();
}

Result<HiveLockTicket> HiveMetastore::CheckLock(std::int64_t id) {
  FIRN_ASSIGN(const Value found, Call({"check_lock", false, kCheckFaults, Type::kStruct},
                                      Value::Struct({{1, Value::Struct({{1, Value::I64(id)}})}})));
  return TicketOf(found, 2);
}

Status HiveMetastore::Unlock(std::int64_t id) {
  FIRN_TRY(Call({"unlock", false, kUnlockFaults, {}}, Value::Struct({{1, Value::Struct({{1, Value::I64(id)}})}})));
  return Ok();
}

}  // namespace firn::ports
