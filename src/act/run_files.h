// SPDX-License-Identifier: Apache-2.0
//
// Which files are a run's own, by their names.
//
// In: the name of a file, the mark of a run. Out: what kind of file of that run it is, or none.
// Guarantees: only whole names as firn forms them count, with the run's name at the place that it has there. A file of
//   somebody else whose name merely contains the run's (a copy, a backup) is none. What a kind tells is who can name
//   such a file: metadata alone, manifest lists, or manifests.
// Cost: one search in the name. Threads: pure. Errors: none.
// Source: names as act/metadata_files.h, act/file_merge.h, ports/metadata_file.h, ports/local_output_file.h give them.
#pragma once

#include <string_view>

#include "act/run_mark.h"

namespace firn::act {

enum class RunFileKind {
  kNone,
  kMetadata,
  kManifestList,
  kManifest,
  kData,       // data files and delete files
  kTemporary,  // of the local file system, on its way
};

RunFileKind KindOf(std::string_view name, const RunMark& mark);

}  // namespace firn::act
