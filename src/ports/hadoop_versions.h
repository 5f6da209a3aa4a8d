// SPDX-License-Identifier: Apache-2.0
//
// Which version of a directory table is current.
//
// In: the directory of a table. Out: its newest metadata file.
// Guarantees: version-hint.text is only where the search starts: versions behind it are probed, under every name
//   that gzip ever had. A missing, broken or outdated hint costs a listing, nothing else.
// Errors: kNotFound when there is no version file. Threads: pure, or as the FileIO.
// Source: Java HadoopTableOperations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ports/file_io.h"

namespace firn::ports {

struct HadoopVersion {
  std::int64_t number = 0;
  std::string location;
};

/// 3 of "v3.metadata.json", "v3.gz.metadata.json" and "v3.metadata.json.gz"; nullopt for other names.
std::optional<std::int64_t> HadoopVersionNumber(std::string_view location);
/// The metadata file of that version, if it is there; plain before gzip, as Java reads them.
Result<std::optional<std::string>> FindHadoopVersion(FileIO& io, const std::string& metadata_folder,
                                                     std::int64_t number);
Result<HadoopVersion> CurrentHadoopVersion(FileIO& io, const std::string& metadata_folder);
/// What the hint says; nullopt when it is missing or no number.
std::optional<std::int64_t> ReadVersionHint(FileIO& io, const std::string& metadata_folder);

}  // namespace firn::ports
