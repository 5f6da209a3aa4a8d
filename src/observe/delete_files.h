// SPDX-License-Identifier: Apache-2.0
//
// What a branch's delete files are, and which live data files they apply to.
//
// In: a loaded table and its files. Out: DeleteFacts.
// Guarantees: every live delete file and every live data file that one of them applies to is there; an unreadable
//   manifest is an error. The result does not depend on the number of threads.
// Cost: one pass over the manifests; memory of the delete files and about 150 bytes and a path a data file with
//   deletes. Without delete manifests nothing else is read.
// Threads: starts options.threads - 1 threads and joins them; facts are immutable afterwards.
// Errors: kNotFound (ref), kCorrupt, kUnsupported (encrypted), kUnavailable: with the location.
// Source: Iceberg table spec, "Scan Planning", "Row-level Deletes".
#pragma once

#include "observe/delete_facts.h"
#include "observe/observe.h"

namespace firn::observe {

/// Of `options`: ref, threads, progress. All partitions are read.
Result<DeleteFacts> ObserveDeletes(const ports::LoadedTable& table, ports::FileIO& io, const ObserveOptions& options);

}  // namespace firn::observe
