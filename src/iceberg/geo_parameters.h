// SPDX-License-Identifier: Apache-2.0
//
// The coordinate system and edge algorithm of geometry and geography, in a table's type and in a Parquet annotation.
//
// Guarantees: absent parameters are the defaults of both specifications, so equal meanings compare equal.
// Errors: kUnsupported for an unknown edge algorithm. Threads: pure. Cost: O(text).
// Source: Iceberg table spec, "Primitive Types"; parquet.thrift GeometryType, GeographyType; Geospatial.md.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "format/parquet/metadata.h"
#include "iceberg/types.h"

namespace firn::iceberg {

struct GeoParameters {
  std::string crs = "OGC:CRS84";
  std::int32_t algorithm = 0;  // EdgeInterpolationAlgorithm of parquet.thrift; 0 is spherical
  friend bool operator==(const GeoParameters&, const GeoParameters&) = default;
};

Result<GeoParameters> GeoParametersOf(const Type& type);
GeoParameters GeoParametersOf(const parquet::LogicalType& annotation);
/// As LogicalType::raw; members with default values are left out.
Bytes EncodeGeoParameters(const GeoParameters& parameters);

}  // namespace firn::iceberg
