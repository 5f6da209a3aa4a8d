# SPDX-License-Identifier: Apache-2.0
# Writes a source file that holds other files' bytes: what src/api/web_files.h declares.
#
#   cmake -DOUTPUT=web_files.cc "-DFILES=a.html|b.js" -P embed_files.cmake
#
# A file is known by its path below web/, or by its name elsewhere.

string(REPLACE "|" ";" files "${FILES}")
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS files)
  file(READ "${file}" hex HEX)
  file(SHA256 "${file}" sha256)
  if(file MATCHES "/web/(.*)$")
    set(path "${CMAKE_MATCH_1}")
  else()
    get_filename_component(path "${file}" NAME)
  endif()
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND arrays "constexpr char kFile${index}[] = {${bytes}'\\0'};\n")
  string(APPEND rows "    {\"${path}\", {kFile${index}, sizeof kFile${index} - 1}, \"${sha256}\"},\n")
  math(EXPR index "${index} + 1")
endforeach()

file(WRITE "${OUTPUT}.new" "// Made by cmake/embed_files.cmake.
#include \"api/web_files.h\"

namespace firn::api {
namespace {
${arrays}
constexpr WebFile kFiles[] = {
${rows}};
}  // namespace

std::span<const WebFile> WebFiles() { return kFiles; }

}  // namespace firn::api
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
