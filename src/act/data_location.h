// SPDX-License-Identifier: Apache-2.0
//
// Where new data files of a table go.
//
// In: table metadata and its properties. Out: locations.
// Guarantees: the same folders that Java's location providers choose: `write.data.path`, then the deprecated
//   `write.object-storage.path` (object storage only) and `write.folder-storage.path`, then "data" below the table;
//   partition folders; with `write.object-storage.enabled` hash folders before them, or instead of them
//   (`write.object-storage.partitioned-paths`).
// Errors: kUnsupported for custom location providers.
// Threads: immutable.
// Source: Java LocationProviders; Iceberg table spec, Appendix F "Path Construction".
#pragma once

#include <string>

#include "base/result.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::act {

class DataLocations {
 public:
  static Result<DataLocations> For(const iceberg::TableMetadata& metadata);

  /// `partition_path`: "a=1/b=2", or empty.
  std::string NewLocation(const std::string& partition_path, const std::string& file_name) const;
  /// Below which all of them are.
  const std::string& folder() const { return folder_; }

 private:
  DataLocations() = default;

  std::string folder_;
  bool hashed_ = false;
  bool partitioned_paths_ = true;
  std::string context_;  // "db/table" if hashed files go outside of the table's own folder
};

/// "1010/0110/0001/10011010": the folders of the object storage layout: 20 bits of the name's hash.
std::string HashFolders(const std::string& name);

}  // namespace firn::act
