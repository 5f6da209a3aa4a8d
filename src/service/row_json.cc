// SPDX-License-Identifier: Apache-2.0
#include "service/row_json.h"

#include <fmt/format.h>

#include <type_traits>

#include "format/json/json.h"
#include "service/row_members.h"

namespace firn::service {
namespace {

template <class T>
constexpr bool kIsRow = std::is_same_v<T, decide::Effect> || std::is_same_v<T, NewRequest>;

class Writer {
 public:
  json::Value object = json::Value::Object();

  template <class T>
  void operator()(std::string_view name, const T& value, MemberKind /*kind*/ = MemberKind::kPlain) {
    object.Set(name, ValueOf(value));
  }

 private:
  template <class T>
  static json::Value ValueOf(const T& value) {
    if constexpr (kIsRow<T>) {
      Writer writer;
      MembersOf(writer, value);
      return std::move(writer.object);
    } else if constexpr (std::is_enum_v<T>) {
      return json::Value(Word(value));
    } else {
      return json::Value(value);
    }
  }
  template <class T>
  static json::Value ValueOf(const std::vector<T>& values) {
    json::Value array = json::Value::Array();
    for (const T& value : values) array.Append(ValueOf(value));
    return array;
  }
  template <class T>
  static json::Value ValueOf(const std::optional<T>& value) {
    return value ? ValueOf(*value) : json::Value();
  }
};

class Reader {
 public:
  explicit Reader(const json::Value& object) : object_(object) {}
  std::string wrong;  // name of the first member of another kind

  template <class T>
  void operator()(std::string_view name, T& value, MemberKind /*kind*/ = MemberKind::kPlain) {
    const json::Value* member = object_.Find(name);
    if (member == nullptr || member->is_null()) return;
    if (!Read(*member, value) && wrong.empty()) wrong = name;
  }

 private:
  static bool Read(const json::Value& from, std::string& to) {
    if (from.AsString() == nullptr) return false;
    to = *from.AsString();
    return true;
  }
  template <class T>
  static bool Take(const std::optional<T>& from, auto& to) {
    if (from) to = static_cast<std::remove_reference_t<decltype(to)>>(*from);
    return from.has_value();
  }
  static bool Read(const json::Value& from, std::int64_t& to) { return Take(from.AsInt64(), to); }
  static bool Read(const json::Value& from, std::int32_t& to) { return Take(from.AsInt64(), to); }
  static bool Read(const json::Value& from, double& to) { return Take(from.AsDouble(), to); }
  static bool Read(const json::Value& from, TableRow::State& to) {
    return from.AsString() != nullptr && Take(TableStateOf(*from.AsString()), to);
  }
  static bool Read(const json::Value& from, JobRow::State& to) {
    return from.AsString() != nullptr && Take(JobStateOf(*from.AsString()), to);
  }
  template <class T>
    requires kIsRow<T>
  static bool Read(const json::Value& from, T& to) {
    Reader reader(from);
    MembersOf(reader, to);
    return from.is_object() && reader.wrong.empty();
  }
  template <class T>
  static bool Read(const json::Value& from, std::vector<T>& to) {
    to.clear();
    for (const json::Value& element : from.elements()) {
      if (!Read(element, to.emplace_back())) return false;
    }
    return from.is_array();
  }
  template <class T>
  static bool Read(const json::Value& from, std::optional<T>& to) {
    return Read(from, to.emplace());
  }

  const json::Value& object_;
};

template <class Row>
std::string WriteAny(const Row& row) {
  Writer writer;
  MembersOf(writer, row);
  return json::Write(writer.object);
}

template <class Row>
Status ReadAny(std::string_view text, Row& row) {
  FIRN_ASSIGN(const json::Value value, json::Parse(text));
  if (!value.is_object()) return Error{Code::kCorrupt, "a stored row is no JSON object"};
  Reader reader(value);
  MembersOf(reader, row);
  if (reader.wrong.empty()) return Ok();
  return Error{Code::kCorrupt, fmt::format("a stored row has a wrong `{}`", reader.wrong)};
}

}  // namespace

std::string WriteRow(const TableRow& row) { return WriteAny(row); }
std::string WriteRow(const JobRow& row) { return WriteAny(row); }
std::string WriteRow(const RequestRow& row) { return WriteAny(row); }
std::string WriteRow(const Histogram& row) { return WriteAny(row); }
std::string WriteRow(const Savings& row) { return WriteAny(row); }

Status ReadRow(std::string_view text, TableRow& row) { return ReadAny(text, row); }
Status ReadRow(std::string_view text, JobRow& row) { return ReadAny(text, row); }
Status ReadRow(std::string_view text, RequestRow& row) { return ReadAny(text, row); }
Status ReadRow(std::string_view text, Histogram& row) { return ReadAny(text, row); }
Status ReadRow(std::string_view text, Savings& row) { return ReadAny(text, row); }

}  // namespace firn::service
