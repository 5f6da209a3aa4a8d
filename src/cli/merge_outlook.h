// SPDX-License-Identifier: Apache-2.0
//
// What a plan comes to, in a sentence or two beside a diagnosis: what a merge would do now, and why the rest stays.
//
// In: a diagnosis and the plan made from it. Out: text for people, JSON.
// Guarantees: counts are the plan's own, so that `firn health` and `firn plan` say the same; a next step is proposed
//   only where the plan has work.
// Threads: pure.
#pragma once

#include <string>

#include "decide/plan.h"
#include "format/json/json.h"
#include "orient/diagnosis.h"

namespace firn::cli {

/// `table_words`: how the user names the table and what is looked at.
std::string MergeOutlookText(const orient::Diagnosis& diagnosis, const decide::Plan& plan,
                             const std::string& table_words);
/// {files_replaced, files_added, files_removed, left: [{code, files}]}
json::Value MergeOutlookToJson(const decide::Plan& plan);

}  // namespace firn::cli
