// SPDX-License-Identifier: Apache-2.0
#include "iceberg/geo_parameters.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "format/parquet/thrift_reader.h"
#include "format/parquet/thrift_writer.h"

namespace firn::iceberg {

namespace {

using parquet::ThriftType;

constexpr std::array<std::string_view, 5> kAlgorithms = {"spherical", "vincenty", "thomas", "andoyer", "karney"};

}  // namespace

Result<GeoParameters> GeoParametersOf(const Type& type) {
  GeoParameters parameters;
  std::string_view crs = Trimmed(type.parameters);
  if (type.kind == TypeKind::kGeography) {
    if (const std::size_t comma = crs.rfind(','); comma != std::string_view::npos) {
      const std::string name = AsciiLower(Trimmed(crs.substr(comma + 1)));
      const auto found = std::ranges::find(kAlgorithms, name);
      if (found == kAlgorithms.end()) return Error{Code::kUnsupported, "edge algorithm " + name};
      parameters.algorithm = static_cast<std::int32_t>(found - kAlgorithms.begin());
      crs = Trimmed(crs.substr(0, comma));
    }
  }
  if (!crs.empty()) parameters.crs = crs;
  return parameters;
}

GeoParameters GeoParametersOf(const parquet::LogicalType& annotation) {
  GeoParameters parameters;
  parquet::ThriftReader kept(annotation.raw);
  while (kept.remaining() > 0) {
    const std::int16_t id = kept.ReadI16();
    const auto type = static_cast<ThriftType>(kept.ReadRawByte());
    parquet::ThriftReader value(kept.ReadBinary());
    if (id == 1 && type == ThriftType::kBinary) parameters.crs = value.ReadString();
    if (id == 2 && type == ThriftType::kI32) parameters.algorithm = value.ReadI32();
  }
  return parameters;
}

Bytes EncodeGeoParameters(const GeoParameters& parameters) {
  const GeoParameters defaults;
  Bytes raw;
  if (parameters.crs != defaults.crs) {
    Bytes value;
    parquet::AppendVarint(value, parameters.crs.size());
    value.insert(value.end(), parameters.crs.begin(), parameters.crs.end());
    parquet::AppendKept(raw, 1, ThriftType::kBinary, value);
  }
  if (parameters.algorithm != defaults.algorithm) {
    Bytes value;
    parquet::AppendZigzag(value, parameters.algorithm);
    parquet::AppendKept(raw, 2, ThriftType::kI32, value);
  }
  return raw;
}

}  // namespace firn::iceberg
