// SPDX-License-Identifier: Apache-2.0
//
// Holds the files of web/ and openapi.json inside the program.
//
// Guarantees: the bytes are those of the source tree when it was built.
// Threads: constants. Source: cmake/embed_files.cmake writes the definition.
#pragma once

#include <span>
#include <string_view>

namespace firn::api {

struct WebFile {
  std::string_view path;  // "style.css"
  std::string_view bytes;
  std::string_view sha256;  // of the bytes, in hex
};

std::span<const WebFile> WebFiles();
const WebFile* FindWebFile(std::string_view path);

}  // namespace firn::api
