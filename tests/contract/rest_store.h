// SPDX-License-Identifier: Apache-2.0
//
// A REST catalog that runs already, as a store for the suite.
//
// In: FIRN_TEST_REST_URI. Out: tables in a namespace of this process. Threads: as CatalogStore.
#pragma once

#include <memory>

#include "contract/catalog_fixture.h"

namespace firn::contract {

std::unique_ptr<CatalogStore> MakeRestStore();

}  // namespace firn::contract
