// SPDX-License-Identifier: Apache-2.0
//
// Divides bins of more files than one merge may have.
//
// In: bins of files, and what the packers know about each file. Out: bins of at most limits().max_input_files files.
// Guarantees: a bin that is small enough stays as it is. A part is a run of its bin's files, but for large files that
//   would make it not worth its cost; parts of one bin have about equally many files. A part that is not worth its cost
//   is left out: its files stay.
// Cost: O(files). Threads: pure.
// Source: docs/packing.md ("Number of files").
#pragma once

#include <span>
#include <vector>

#include "decide/packing_model.h"

namespace firn::decide {

std::vector<Bin> DivideBins(std::span<const PackingItem> files, std::vector<Bin> bins, const PackingModel& model);

}  // namespace firn::decide
