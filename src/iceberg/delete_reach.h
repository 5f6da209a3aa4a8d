// SPDX-License-Identifier: Apache-2.0
//
// How far a delete file reaches, as its manifest entry tells.
//
// In: an entry; metadata. Out: the one data file that it names; whether it applies to all partitions.
// Threads: pure. Guarantees: what is not certain is not claimed.
// Source: Iceberg table spec, "Scan Planning", "Delete Formats".
#pragma once

#include <optional>
#include <string_view>

#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

/// The column file_path of position delete files.
inline constexpr FieldId kDeleteFilePathField = 2147483546;
/// Its bound.
std::optional<std::string_view> PathBound(const ByField<Bytes>& bounds);
/// The one path that all rows of a position delete file name by its bounds, or the beginning of it; nullopt: there may
/// be several.
std::optional<std::string_view> OnlyBound(const DataFile& position_deletes);
/// Whether equality deletes of the spec apply to all partitions.
bool IsGlobal(const TableMetadata& metadata, SpecId spec_id);

}  // namespace firn::iceberg
