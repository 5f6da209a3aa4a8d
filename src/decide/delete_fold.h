// SPDX-License-Identifier: Apache-2.0
//
// Which files are rewritten for their deletes, alone or together, and what that is worth.
//
// In: bins that were chosen for file sizes, files that are due for their deletes (orient/delete_debt.h). Out: bins in
//   which every due file is; the worth of a rewrite for its deletes.
// Guarantees: a due file that is small joins others that are due, because all of them are written anyway; what could be
//   joined with the outputs of that is joined as well, so that a second plan finds nothing. No bin is above the cap,
//   none has more files than are allowed.
// Cost: that of packing, once more a round; rounds end after a few. Threads: pure.
// Source: docs/packing.md ("Deletes").
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decide/packing_free.h"
#include "decide/plan.h"
#include "observe/facts.h"
#include "orient/policy.h"

namespace firn::decide {

/// A file as the packers see it: its live rows, and the benefit of folding its deletes, in the error of an empty file.
PackingItem FoldItem(const observe::DataFileFacts& file, const PackingModel& model);
/// The same benefit in files that a reader does not have to open any more.
double FoldBenefit(const observe::DataFileFacts& file, std::int64_t target_size_bytes);

/// `bins` of `files` (parallel to `due`), and bins for the due files that are in none of them: at least one file each.
std::vector<Bin> JoinDue(std::span<const PackingItem> files, const std::vector<bool>& due, std::vector<Bin> bins,
                         const PackingModel& model, const std::optional<PackingGoal>& goal);

/// Why a group is rewritten, for people: one sentence without a full stop.
std::string WhyRewrite(const observe::Facts& facts, const orient::Policy& policy, const MergeGroup& group);

}  // namespace firn::decide
