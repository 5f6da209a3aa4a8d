// SPDX-License-Identifier: Apache-2.0
#include "ports/file_io.h"

namespace firn::ports {

Error NotExclusive(const std::string& location) {
  return {Code::kUnsupported, location + ": this storage cannot keep two writers from making the same file"};
}

Result<Bytes> ReadFile(FileIO& io, const std::string& location, std::uint64_t size_max_bytes) {
  FIRN_ASSIGN(const auto source, io.Open(location));
  return ReadAll(*source, size_max_bytes);
}

Status WriteFile(FileIO& io, const std::string& location, ByteView bytes) {
  FIRN_ASSIGN(const auto file, io.Create(location));
  FIRN_TRY(file->Write(bytes));
  return file->Close();
}

}  // namespace firn::ports
