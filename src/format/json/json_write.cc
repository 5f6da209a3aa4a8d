// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "format/json/json.h"

namespace firn::json {
namespace {

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

/// `indent` below zero: compact.
void Append(const Value& value, int indent, std::string& out);

void NewLine(int indent, std::string& out) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent), ' ');
}

void AppendArray(const Value& value, int indent, std::string& out) {
  const int inner = indent < 0 ? -1 : indent + 2;
  out += '[';
  for (std::size_t i = 0; i < value.elements().size(); ++i) {
    if (i > 0) out += ',';
    NewLine(inner, out);
    Append(value.elements()[i], inner, out);
  }
  if (!value.elements().empty()) NewLine(indent, out);
  out += ']';
}

void AppendObject(const Value& value, int indent, std::string& out) {
  const int inner = indent < 0 ? -1 : indent + 2;
  out += '{';
  for (std::size_t i = 0; i < value.members().size(); ++i) {
    if (i > 0) out += ',';
    NewLine(inner, out);
    AppendQuoted(value.members()[i].first, out);
    out += indent < 0 ? ":" : ": ";
    Append(value.members()[i].second, inner, out);
  }
  if (!value.members().empty()) NewLine(indent, out);
  out += '}';
}

void Append(const Value& value, int indent, std::string& out) {
  switch (value.kind()) {
    case Value::Kind::kNull: out += "null"; return;
    case Value::Kind::kBool: out += *value.AsBool() ? "true" : "false"; return;
    case Value::Kind::kNumber: out += value.number_text(); return;
    case Value::Kind::kString: AppendQuoted(*value.AsString(), out); return;
    case Value::Kind::kArray: AppendArray(value, indent, out); return;
    case Value::Kind::kObject: AppendObject(value, indent, out); return;
  }
}

}  // namespace

std::string Write(const Value& value) {
  std::string out;
  Append(value, -1, out);
  return out;
}

std::string WritePretty(const Value& value) {
  std::string out;
  Append(value, 0, out);
  out += '\n';
  return out;
}

}  // namespace firn::json
