// SPDX-License-Identifier: Apache-2.0
#include "iceberg/manifest_encoder.h"

#include "base/ascii.h"
#include "base/random.h"
#include "iceberg/manifest_fields.h"

namespace firn::iceberg {
namespace {

constexpr std::int64_t kBlockSizeDefault = 64 << 20;  // the value that v1 readers expect somewhere

Error Misfit(const Type& type) { return {Code::kInternal, "partition value does not fit its type " + ToString(type)}; }

Status EncodeDecimal(const Decimal& value, std::int32_t precision, avro::Encoder& out) {
  const std::size_t size = DecimalBytes(precision);
  if (size < 16) {
    const __int128 limit = static_cast<__int128>(1) << (8 * size - 1);
    if (value.unscaled < -limit || value.unscaled >= limit) {
      return Error{Code::kInternal, "decimal partition value has too many digits"};
    }
  }
  std::uint8_t bytes[16];
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::uint8_t>(value.unscaled >> (8 * (size - 1 - i)));
  }
  out.WriteFixed({bytes, size});
  return Ok();
}

Status EncodeBytes(const Type& type, const Bytes& value, avro::Encoder& out) {
  if (type.kind == TypeKind::kBinary) {
    out.WriteBytes(value);
    return Ok();
  }
  const std::size_t size = type.kind == TypeKind::kUuid ? 16 : static_cast<std::size_t>(type.length);
  if ((type.kind != TypeKind::kUuid && type.kind != TypeKind::kFixed) || value.size() != size) return Misfit(type);
  out.WriteFixed(value);
  return Ok();
}

struct LiteralEncoder {
  const Type& type;
  avro::Encoder& out;

  Status operator()(std::monostate) const { return Ok(); }
  Status operator()(bool value) const {
    if (type.kind != TypeKind::kBoolean) return Misfit(type);
    out.WriteBoolean(value);
    return Ok();
  }
  Status operator()(std::int32_t value) const {
    if (type.kind != TypeKind::kInt && type.kind != TypeKind::kDate) return Misfit(type);
    out.WriteLong(value);
    return Ok();
  }
  Status operator()(std::int64_t value) const {
    if (type.kind != TypeKind::kLong && (type.kind < TypeKind::kTime || type.kind > TypeKind::kTimestampTzNs)) {
      return Misfit(type);
    }
    out.WriteLong(value);
    return Ok();
  }
  Status operator()(float value) const {
    if (type.kind != TypeKind::kFloat) return Misfit(type);
    out.WriteFloat(value);
    return Ok();
  }
  Status operator()(double value) const {
    if (type.kind != TypeKind::kDouble) return Misfit(type);
    out.WriteDouble(value);
    return Ok();
  }
  Status operator()(const std::string& value) const {
    if (type.kind != TypeKind::kString) return Misfit(type);
    out.WriteString(value);
    return Ok();
  }
  Status operator()(const Bytes& value) const { return EncodeBytes(type, value, out); }
  Status operator()(const Decimal& value) const {
    if (type.kind != TypeKind::kDecimal) return Misfit(type);
    return EncodeDecimal(value, type.precision, out);
  }
};

/// The types that have no Avro form here are written as Avro's null type.
bool HasAvroForm(const Type& type) { return type.kind < TypeKind::kUnknown; }

Status EncodePartition(const PartitionTuple& tuple, const std::vector<Type>& types, avro::Encoder& out) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Literal& value = tuple.values[i];
    if (!HasAvroForm(types[i])) {
      if (IsNull(value)) continue;
      return Error{Code::kUnsupported, "partition value of a field whose type is not known"};
    }
    out.WriteLong(IsNull(value) ? 0 : 1);
    FIRN_TRY(std::visit(LiteralEncoder{types[i], out}, value));
  }
  return Ok();
}

void EncodeItem(std::int64_t value, avro::Encoder& out) { out.WriteLong(value); }
void EncodeItem(const Bytes& value, avro::Encoder& out) { out.WriteBytes(value); }

/// null, or one run of items and the end.
template <class Items, class EncodeOne>
void EncodeArray(const Items& items, avro::Encoder& out, EncodeOne encode) {
  out.WriteLong(items.empty() ? 0 : 1);
  if (items.empty()) return;
  out.WriteLong(static_cast<std::int64_t>(items.size()));
  for (const auto& item : items) encode(item);
  out.WriteLong(0);
}

template <class T>
void EncodeMap(const ByField<T>& map, avro::Encoder& out) {
  EncodeArray(map, out, [&out](const auto& item) {
    out.WriteLong(item.first);
    EncodeItem(item.second, out);
  });
}

template <class T>
void EncodeList(const std::vector<T>& list, avro::Encoder& out) {
  EncodeArray(list, out, [&out](const T& item) { out.WriteLong(item); });
}

/// A branch of a union with null, then the value.
template <class T>
void EncodeOption(const std::optional<T>& value, avro::Encoder& out) {
  out.WriteLong(value ? 1 : 0);
  if (!value) return;
  if constexpr (std::is_same_v<T, std::string>) {
    out.WriteString(*value);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    out.WriteBytes(*value);
  } else if constexpr (std::is_same_v<T, bool>) {
    out.WriteBoolean(*value);
  } else if constexpr (std::is_integral_v<T>) {
    out.WriteLong(*value);
  } else {
    out.WriteLong(value->value);
  }
}

Status EncodeFileField(const WrittenField& field, const DataFile& file, const std::vector<Type>& partition_types,
                       avro::Encoder& out) {
  switch (field.id) {
    case 134: out.WriteLong(static_cast<std::int64_t>(file.content)); break;
    case 100: out.WriteString(file.file_path); break;
    case 101: out.WriteString(file.format_text.empty() ? FormatName(file.format) : file.format_text); break;
    case 102: return EncodePartition(file.partition, partition_types, out);
    case 103: out.WriteLong(file.record_count); break;
    case 104: out.WriteLong(file.file_size_bytes); break;
    case 105: out.WriteLong(file.block_size_bytes.value_or(kBlockSizeDefault)); break;
    case 108: EncodeMap(file.column_sizes, out); break;
    case 109: EncodeMap(file.value_counts, out); break;
    case 110: EncodeMap(file.null_value_counts, out); break;
    case 137: EncodeMap(file.nan_value_counts, out); break;
    case 125: EncodeMap(file.lower_bounds, out); break;
    case 128: EncodeMap(file.upper_bounds, out); break;
    case 131: EncodeOption(file.key_metadata, out); break;
    case 132: EncodeList(file.split_offsets, out); break;
    case 135: EncodeList(file.equality_ids, out); break;
    case 140: EncodeOption(file.sort_order_id, out); break;
    case 142: EncodeOption(file.first_row_id, out); break;
    case 143: EncodeOption(file.referenced_data_file, out); break;
    case 144: EncodeOption(file.content_offset, out); break;
    case 145: EncodeOption(file.content_size_bytes, out); break;
    default: break;
  }
  return Ok();
}

void EncodeSummaries(const std::optional<std::vector<FieldSummary>>& summaries, avro::Encoder& out) {
  out.WriteLong(summaries ? 1 : 0);
  if (!summaries) return;
  if (!summaries->empty()) out.WriteLong(static_cast<std::int64_t>(summaries->size()));
  for (const FieldSummary& summary : *summaries) {
    out.WriteBoolean(summary.contains_null);
    EncodeOption(summary.contains_nan, out);
    EncodeOption(summary.lower_bound, out);
    EncodeOption(summary.upper_bound, out);
  }
  out.WriteLong(0);
}

/// The counts are optional in v1 alone.
template <class T>
void EncodeCount(const WrittenField& field, const std::optional<T>& count, avro::Encoder& out) {
  if (field.is_required) {
    out.WriteLong(count.value_or(0));
  } else {
    EncodeOption(count, out);
  }
}

}  // namespace

Status EncodeEntry(const ManifestEntry& entry, SnapshotId snapshot_id, std::int32_t format_version,
                   const std::vector<Type>& partition_types, avro::Encoder& out) {
  for (const WrittenField& field : EntryFields()) {
    if (!field.InVersion(format_version)) continue;
    switch (field.id) {
      case 0: out.WriteLong(static_cast<std::int64_t>(entry.status)); break;
      case 1:
        if (!field.is_required) out.WriteLong(1);
        out.WriteLong(snapshot_id.value);
        break;
      case 3: EncodeOption(entry.sequence_number, out); break;
      case 4: EncodeOption(entry.file_sequence_number, out); break;
      default:
        for (const WrittenField& member : DataFileFields()) {
          if (!member.InVersion(format_version)) continue;
          FIRN_TRY(EncodeFileField(member, entry.file, partition_types, out));
        }
    }
  }
  return Ok();
}

void EncodeManifestFile(const ManifestFile& manifest, std::int32_t format_version, avro::Encoder& out) {
  for (const WrittenField& field : ManifestFileFields(format_version)) {
    switch (field.id) {
      case 500: out.WriteString(manifest.manifest_path); break;
      case 501: out.WriteLong(manifest.manifest_length); break;
      case 502: out.WriteLong(manifest.spec_id.value); break;
      case 517: out.WriteLong(static_cast<std::int64_t>(manifest.content)); break;
      case 515: out.WriteLong(manifest.sequence_number.value); break;
      case 516: out.WriteLong(manifest.min_sequence_number.value); break;
      case 503: out.WriteLong(manifest.added_snapshot_id.value); break;
      case 504: EncodeCount(field, manifest.added_files_count, out); break;
      case 505: EncodeCount(field, manifest.existing_files_count, out); break;
      case 506: EncodeCount(field, manifest.deleted_files_count, out); break;
      case 512: EncodeCount(field, manifest.added_rows_count, out); break;
      case 513: EncodeCount(field, manifest.existing_rows_count, out); break;
      case 514: EncodeCount(field, manifest.deleted_rows_count, out); break;
      case 507: EncodeSummaries(manifest.partitions, out); break;
      case 519: EncodeOption(manifest.key_metadata, out); break;
      case 520: EncodeOption(manifest.first_row_id, out); break;
      default: break;
    }
  }
}

Result<avro::Codec> CodecFromProperty(std::string_view name) {
  const std::string lower = AsciiLower(name);
  if (lower == "gzip") return avro::Codec::kDeflate;
  if (lower == "zstd") return avro::Codec::kZstd;
  if (lower == "uncompressed") return avro::Codec::kNull;
  return avro::ParseCodec(lower);
}

avro::SyncMarker MakeSyncMarker(std::string_view file_name, SnapshotId snapshot_id) {
  std::uint64_t seed = static_cast<std::uint64_t>(snapshot_id.value);
  for (const char c : file_name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  Random random(seed);
  avro::SyncMarker marker;
  StoreLittle(marker.data(), random.Next());
  StoreLittle(marker.data() + 8, random.Next());
  return marker;
}

}  // namespace firn::iceberg
