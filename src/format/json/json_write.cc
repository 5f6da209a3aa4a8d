// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "format/json/json.h"

namespace firn::json {
namespace {

// JSON is UTF-8. Names of files, and text in them, need not be: what is none is written as U+FFFD, since whoever reads
// would refuse the whole document.

/// Bytes of the UTF-8 character that `text` begins with; 0: it is none.
std::size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Longer than needed, surrogates, and beyond U+10FFFF.
  const unsigned second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return size;
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = CharacterBytes(text.substr(at));
    if (size != 1) {
      out += size == 0 ? "\ufffd" : text.substr(at, size);
      at += std::max<std::size_t>(size, 1);
      continue;
    }
    const char c = text[at++];
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
