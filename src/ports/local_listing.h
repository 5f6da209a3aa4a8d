// SPDX-License-Identifier: Apache-2.0
//
// Walks a local directory in the order of whole paths, a page at a time.
//
// Guarantees: order and page borders are those of an object store: bytes of the path, so "a-b" before "a/b".
//   Files that vanish meanwhile are left out. Memory is one page and the names of one directory a level.
// Threads: any. Errors: kUnavailable and others of errno, with the directory.
#pragma once

#include <string>

#include "ports/file_io.h"

namespace firn::ports {

/// `prefix` as the caller wrote it and `path` in the file system, both ending with '/'. `after`: location of the
/// last file of the page before, or empty. A missing directory has no files.
Result<ListPage> ListLocalFiles(const std::string& prefix, const std::string& path, const std::string& after,
                                std::size_t page_files);

}  // namespace firn::ports
