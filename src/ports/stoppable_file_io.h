// SPDX-License-Identifier: Apache-2.0
//
// A FileIO that ends long reading once somebody wants to stop.
//
// In: any FileIO, a flag. Out: the same FileIO until the flag is set; then every call is refused before it is made.
// Guarantees: also the reads of opened files. Meant for what only reads: a writer could not tell what it has left
//   behind.
// Errors: kCancelled, with the location. Threads: as the FileIO below; the flag may be set from any.
#pragma once

#include <atomic>
#include <memory>

#include "ports/file_io.h"

namespace firn::ports {

/// Borrows both. Null: never stopped.
std::unique_ptr<FileIO> MakeStoppable(FileIO& below, const std::atomic<bool>* stopped);

}  // namespace firn::ports
