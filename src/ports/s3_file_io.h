// SPDX-License-Identifier: Apache-2.0
//
// Objects of S3 and compatible stores, through Arrow's S3 client; metadata files through libcurl.
//
// In: "s3://bucket/key" (also s3a, s3n), keys as raw bytes; properties s3.endpoint, s3.region, s3.access-key-id,
//   s3.secret-access-key, s3.session-token, s3.path-style-access, s3.anonymous, s3.connect-timeout, client.*;
//   without keys the usual AWS chain is asked (environment, profile, instance).
// Out: as file_io.h says; List is in the order of the store (by bytes on AWS).
// Guarantees: metadata files (*.metadata.json) are held and made by a conditional PUT, a compare-and-set where the
//   store honours it: CheckExclusive tells. Other names are looked for first (HEAD), so they must be unique, as those
//   of data files are; their size is checked after the upload.
// Cost: starting the client takes about 17 ms of CPU, once a process. Open with a known size sends nothing.
// Threads: any; one listing belongs to one thread.
// Errors: kUnsupported for keys with an empty component ("a//b"), which Arrow cannot name.
// Source: arrow/filesystem/s3fs.h.
#pragma once

#include <memory>
#include <string_view>

#include "ports/file_io.h"
#include "ports/properties.h"

namespace firn::ports {

bool IsS3Scheme(std::string_view scheme);

Result<std::unique_ptr<FileIO>> OpenS3FileIO(const Properties& properties);

}  // namespace firn::ports
