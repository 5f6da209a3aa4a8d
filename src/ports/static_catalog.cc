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
  return Error{Code::kUnsupported, table.id.name +
                                       ": a table given by its metadata file can only be read; name it "
                                       "through its catalog, or give the directory of a Hadoop table"};
}

}  // namespace firn::ports
