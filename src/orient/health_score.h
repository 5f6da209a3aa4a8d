// SPDX-License-Identifier: Apache-2.0
//
// Turns the state of a table into a score of 0 to 100 with five parts, each with its reason.
//
// In: Facts, a Diagnosis whose sums are filled in. Out: its parts and score.
// Guarantees: each part falls (or stays) when the measure that it is made of rises; a table with nothing to gain
//   has 100; a part's reason names its figures.
// Cost: O(partitions). Threads: pure.
// Source: docs/health-score.md.
#pragma once

#include "observe/facts.h"
#include "orient/diagnosis.h"

namespace firn::orient {

/// Fills `parts` and `score` from the other members.
void ScoreHealth(const observe::Facts& facts, Diagnosis& diagnosis);

/// The same from sums alone, between scans: every removable file counts as an empty one, deleted rows are not known,
/// and manifests and snapshots count as in shape.
double EstimateScore(double file_count, double removable_files, double positional_deletes, double equality_deletes);

/// What the parts are computed from, for tests and for docs/health-score.md.
double FileSizeScore(double avoidable_error, double file_count);
double SmallFilesScore(double removable_files, double file_count);
double DeletesScore(double deleted_row_share, double position_deletes_per_file, double equality_deletes_per_file);
double ManifestsScore(double manifests, double manifests_needed);
double SnapshotsScore(double snapshots);

}  // namespace firn::orient
