// SPDX-License-Identifier: Apache-2.0
//
// What carrying out a plan would do and cost.
//
// In: a group of a plan; a plan of delete files with its facts. Out: an Effect.
// Guarantees: the sum over a plan's groups is the plan's. Of delete files that a merge makes superfluous nothing is
//   said: which those are shows when it is committed.
// Cost: O(1) a group; a look-up a data file, and if not all deletes go, one a delete that applies to it.
// Threads: pure.
// Source: docs/deciding.md ("Worth").
#pragma once

#include "decide/delete_rewrite.h"
#include "decide/effect.h"
#include "decide/plan.h"
#include "observe/delete_facts.h"

namespace firn::decide {

Effect EffectOf(const MergeGroup& group);
/// `plan` was made from `facts`.
Effect EffectOf(const observe::DeleteFacts& facts, const DeletePlan& plan);
/// Of one worker.
double PredictSeconds(const DeletePlan& plan);
/// Whether a plan is worth carrying out unasked: one read of the table is spared as many bytes of opens as the reading
/// of keys takes, or kManyDeleteFiles opens of each data file that is read. `effect` is that of `plan`. What reads no
/// data file always pays.
bool Pays(const DeletePlan& plan, const Effect& effect);

}  // namespace firn::decide
