// SPDX-License-Identifier: Apache-2.0
//
// Groups the files of a partition as Iceberg's own rewrite_data_files does with its default options.
//
// In: files of one partition, the target size. Out: groups, each with the number of its outputs.
// Guarantees: files between 0.75 and 1.8 of the target are left, unless 0.3 of their rows are known to be deleted; a
//   group is rewritten when it has 5 files, or two with more bytes than the target, or more bytes than 1.8 targets, or
//   a file with so many deletes. Sizes of outputs follow decide's prediction, so that policies differ by choices alone.
// Cost: O(files). Threads: pure.
// Source: Apache Iceberg 1.10, SizeBasedFileRewritePlanner and BinPackRewriteFilePlanner.
#pragma once

#include <vector>

#include "decide/cost.h"
#include "simulate/world.h"

namespace firn::simulate {

std::vector<Merge> SparkGroups(const StoredPartition& partition, std::int64_t target_size_bytes,
                               const decide::CostModel& cost);

/// A merge of these files into `outputs` files of equal size.
Merge MergeOf(const std::vector<const StoredFile*>& files, std::int32_t outputs, std::int64_t target_size_bytes,
              const decide::CostModel& cost);

}  // namespace firn::simulate
