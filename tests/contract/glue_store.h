// SPDX-License-Identifier: Apache-2.0
//
// AWS Glue, behind the address in FIRN_TEST_GLUE_ENDPOINT, as a store of the contract suite.
//
// Guarantees: every store has a database of its own, and removes it.
// Threads: as catalog_fixture.h.
#pragma once

#include <memory>

#include "contract/catalog_fixture.h"

namespace firn::contract {

std::unique_ptr<CatalogStore> MakeGlueStore();

}  // namespace firn::contract
