// SPDX-License-Identifier: Apache-2.0
//
// A Hive Metastore, behind an address of thrift://, as a store of the contract suite.
//
// Guarantees: every store has a database of its own, and removes its tables.
// Threads: as catalog_fixture.h.
#pragma once

#include <memory>
#include <string>

#include "contract/catalog_fixture.h"

namespace firn::contract {

std::unique_ptr<CatalogStore> MakeHiveStore(const std::string& uri, bool has_locks);

}  // namespace firn::contract
