// SPDX-License-Identifier: Apache-2.0
//
// Objects of S3 that are partly made of ranges of others, which the store copies by itself.
//
// In: a FileIO that writes the objects of the same store, the store's multipart requests. Out: the same FileIO, whose
//   files can be asked for range_copies().
// Guarantees: a file that is not asked is written as the FileIO below does it, and so is one that stays below a part.
//   Others are uploaded in parts, several at a time, at most 10,000 of them; a run of ranges of one object that
//   follow each other becomes parts of its own if it is long enough: of 5 MiB at least, after what was written before
//   it has become a part of 5 MiB with some of the run's own bytes. The first copy of each run is awaited: where the
//   store does not copy, the run is read and written, and where it cannot at all it is not asked again. Close compares
//   the tags of all objects that were copied from once more, and the size of what was made. An upload that is given up
//   is aborted when its parts have ended; not so when nobody knows whether it was completed.
// Cost: memory for five parts (40 MiB; more beyond 8 GB). One request a part and three more; one a marked object, and
//   another if it was copied from.
// Threads: as file_io.h; parts are sent by threads that end before Close or Abort returns.
// Errors: those of s3_requests.h and range_copies.h.
#pragma once

#include <memory>

#include "ports/file_io.h"
#include "ports/s3_requests.h"

namespace firn::ports {

std::unique_ptr<FileIO> MakeS3RangesFileIO(std::unique_ptr<FileIO> plain, std::shared_ptr<S3Requests> requests);

}  // namespace firn::ports
