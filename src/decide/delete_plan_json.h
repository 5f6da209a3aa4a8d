// SPDX-License-Identifier: Apache-2.0
//
// Writes a plan for delete files as JSON.
//
// Guarantees: member names are those of delete_rewrite.h; of the delete files that go the first `files_max` are named.
// Threads: pure.
#pragma once

#include <cstddef>

#include "decide/delete_rewrite.h"
#include "format/json/json.h"

namespace firn::decide {

json::Value ToJson(const DeletePlan& plan, const observe::DeleteFacts& facts, std::size_t files_max = SIZE_MAX);

}  // namespace firn::decide
