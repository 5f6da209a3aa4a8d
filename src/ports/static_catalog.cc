// SPDX-License-Identifier: Apache-2.0
#include "ports/static_catalog.h"

#include "ports/metadata_file.h"

namespace firn::ports {

Result<LoadedTable> StaticCatalog::LoadTable(const TableIdentifier& id) {
  FIRN_ASSIGN(auto metadata, ReadMetadataFile(*io_, id.name));
  return LoadedTable{id, id.name, std::move(metadata), {}};
}

Result<LoadedTable> StaticCatalog::CommitTable(const LoadedTable& base, const TableCommit&) {
  return std::move(CheckWritable(base).error());
}

Status StaticCatalog::CheckWritable(const LoadedTable& table) const {
  return Error{Code::kUnsupported,
               table.id.name +
                   ": a table found by the metadata file of a catalog can only be read: name it through "
                   "that catalog. By their directory only Hadoop-style tables (vN.metadata.json) are written"};
}

}  // namespace firn::ports
