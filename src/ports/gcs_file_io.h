// SPDX-License-Identifier: Apache-2.0
//
// Objects of Google Cloud Storage, through Arrow's client.
//
// In: "gs://bucket/key", keys as raw bytes; properties gcs.oauth2.token, gcs.oauth2.token-expires-at, gcs.no-auth,
//   gcs.service.host, gcs.project-id; without a token the application default credentials are asked.
// Out: as file_io.h says. Guarantees: those of arrow_file_io.h; with a token (or with gcs.no-auth) metadata files are
// made
//   by conditional requests (conditional_file_io.h), otherwise CheckExclusive refuses.
// Cost: as arrow_file_io.h. Threads: any.
// Errors: kUnsupported for keys with an empty component; kUnavailable after about half a minute of trying.
// Source: arrow/filesystem/gcsfs.h; property names of PyIceberg and of Java's GCPProperties.
#pragma once

#include <memory>
#include <string_view>

#include "ports/file_io.h"
#include "ports/properties.h"

namespace firn::ports {

inline bool IsGcsScheme(std::string_view scheme) { return scheme == "gs" || scheme == "gcs"; }

Result<std::unique_ptr<FileIO>> OpenGcsFileIO(const Properties& properties);

}  // namespace firn::ports
