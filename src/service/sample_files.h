// SPDX-License-Identifier: Apache-2.0
//
// Takes a bounded sample of a table's files, for experiments.
//
// In: facts, a seed, limits. Out: facts of the sample alone, and where its files are.
// Guarantees: partitions by chance, of each as many files as fit, at least two; files without deletes that a merge may
//   take. Never more than the limits. The same seed takes the same files.
// Cost: O(files); reading the manifests of the chosen files. Threads: any.
// Errors: those of reading manifests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "iceberg/metadata.h"
#include "observe/facts.h"
#include "ports/file_io.h"

namespace firn::service {

struct FileSample {
  observe::Facts facts;  // manifests and partitions of the table, files of the sample
  std::int64_t bytes = 0, partitions = 0;
  std::vector<std::string> locations;  // parallel to facts.files; empty until LocateFiles
  std::string reason;                  // why there are none
};

/// Files of at least `file_bytes_max` are left alone: no size that is tried would merge them.
FileSample TakeSample(const observe::Facts& facts, std::int64_t bytes_max, std::size_t files_max,
                      std::int64_t file_bytes_max, Random random);

Status LocateFiles(FileSample& sample, const iceberg::TableMetadata& metadata, ports::FileIO& io);

}  // namespace firn::service
