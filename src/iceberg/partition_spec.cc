// SPDX-License-Identifier: Apache-2.0
#include "iceberg/partition_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/ascii.h"

namespace firn::iceberg {
namespace {

template <class T>
void AppendRaw(T value, std::string& key) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendSized(std::string_view bytes, std::string& key) {
  AppendRaw(static_cast<std::uint64_t>(bytes.size()), key);
  key += bytes;
}

/// Bits of a value; all NaN alike, as SameValue has it.
struct KeyWriter {
  std::string& key;

  void operator()(std::monostate) const {}
  void operator()(bool value) const { key += value ? '\1' : '\0'; }
  void operator()(std::int32_t value) const { AppendRaw(value, key); }
  void operator()(std::int64_t value) const { AppendRaw(value, key); }
  void operator()(float value) const {
    AppendRaw(std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value, key);
  }
  void operator()(double value) const {
    AppendRaw(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value, key);
  }
  void operator()(const std::string& value) const { AppendSized(value, key); }
  void operator()(const Bytes& value) const { AppendSized(AsText(value), key); }
  void operator()(const Decimal& value) const { AppendRaw(value.unscaled, key); }
};

/// Reads what KeyWriter wrote. Nothing after a fault.
struct KeyReader {
  std::string_view left;
  bool is_ok = true;

  template <class T>
  T Raw() {
    T value{};
    const std::string_view bytes = Take(sizeof value);
    if (is_ok) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view Take(std::uint64_t size) {
    is_ok = is_ok && size <= left.size();
    if (!is_ok) return {};
    const std::string_view bytes = left.substr(0, size);
    left.remove_prefix(size);
    return bytes;
  }
  Literal Value() {
    switch (Raw<std::uint8_t>()) {
      case 0: return std::monostate();
      case 1: return Raw<std::uint8_t>() != 0;
      case 2: return Raw<std::int32_t>();
      case 3: return Raw<std::int64_t>();
      case 4: return Raw<float>();
      case 5: return Raw<double>();
      case 6: return std::string(Take(Raw<std::uint64_t>()));
      case 7: {
        const ByteView bytes = AsBytes(Take(Raw<std::uint64_t>()));
        return Bytes(bytes.begin(), bytes.end());
      }
      case 8: return Decimal{Raw<__int128>()};
      default: is_ok = false; return std::monostate();
    }
  }
};

/// Type of the values of a field whose source column is gone.
Type TypeWithoutSource(const Transform& transform) {
  switch (transform.kind) {
    case TransformKind::kBucket:
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kHour: return Type{.kind = TypeKind::kInt};
    case TransformKind::kDay: return Type{.kind = TypeKind::kDate};
    default: return Type{.kind = TypeKind::kUnknown};
  }
}

Type SourceType(const PartitionField& field, const Schema& schema) {
  const Field* source = schema.FindField(field.source_id);
  return source == nullptr ? Type{.kind = TypeKind::kUnknown} : source->type;
}

/// As java.net.URLEncoder with UTF-8: a form field, not a URI path.
std::string FormEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (IsAsciiAlphanumeric(c) || c == '.' || c == '-' || c == '*' || c == '_') {
      encoded += c;
    } else if (c == ' ') {
      encoded += '+';
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return encoded;
}

template <class Escape>
std::string JoinFields(const PartitionSpec& spec, const Schema& schema, const PartitionTuple& tuple, Escape escape) {
  if (spec.is_unpartitioned()) return {};
  std::string text;
  const std::size_t count = std::min(spec.fields.size(), tuple.values.size());
  for (std::size_t i = 0; i < count; ++i) {
    const PartitionField& field = spec.fields[i];
    if (i > 0) text += '/';
    text += escape(field.name);
    text += '=';
    text += escape(ToHumanText(field.transform, SourceType(field, schema), tuple.values[i]));
  }
  return text;
}

}  // namespace

bool PartitionSpec::is_unpartitioned() const {
  return std::all_of(fields.begin(), fields.end(),
                     [](const PartitionField& field) { return field.transform.kind == TransformKind::kVoid; });
}

bool SameTuple(const PartitionTuple& a, const PartitionTuple& b) {
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), SameValue);
}

std::string TupleKey(const PartitionTuple& tuple) {
  std::string key;
  for (const Literal& value : tuple.values) {
    key += static_cast<char>(value.index());
    std::visit(KeyWriter{key}, value);
  }
  return key;
}

Result<PartitionTuple> TupleFromKey(std::string_view key) {
  PartitionTuple tuple;
  KeyReader reader{key};
  while (!reader.left.empty()) {
    tuple.values.push_back(reader.Value());
    if (!reader.is_ok) return Error{Code::kCorrupt, "not the key of a partition tuple"};
  }
  return tuple;
}

std::vector<Type> PartitionTypes(const PartitionSpec& spec, const Schema& schema) {
  std::vector<Type> types;
  types.reserve(spec.fields.size());
  for (const PartitionField& field : spec.fields) {
    const Field* source = schema.FindField(field.source_id);
    types.push_back(source == nullptr ? TypeWithoutSource(field.transform) : ResultType(field.transform, source->type));
  }
  return types;
}

std::string PartitionPath(const PartitionSpec& spec, const Schema& schema, const PartitionTuple& tuple) {
  return JoinFields(spec, schema, tuple, FormEncoded);
}

std::string PartitionText(const PartitionSpec& spec, const Schema& schema, const PartitionTuple& tuple) {
  return JoinFields(spec, schema, tuple, [](std::string_view text) { return text; });
}

}  // namespace firn::iceberg
