// SPDX-License-Identifier: Apache-2.0
#include "ports/routed_file_io.h"

#include <fmt/format.h>

#include "ports/azure_file_io.h"
#include "ports/gcs_file_io.h"
#include "ports/location.h"
#include "ports/s3_file_io.h"

namespace firn::ports {

Result<FileIO*> RoutedFileIO::Route(const std::string& location) {
  const std::string_view scheme = SchemeOf(location);
  if (scheme.empty() || scheme == "file") return &local_;
  const bool is_s3 = IsS3Scheme(scheme), is_gcs = IsGcsScheme(scheme);
  if (!is_s3 && !is_gcs && !IsAzureScheme(scheme)) {
    return Error{Code::kUnsupported,
                 fmt::format("{}: storage `{}` is not supported: local files, S3, GCS and ADLS are", location, scheme)};
  }
  const std::string host(is_s3 || is_gcs ? "" : AzureHostOf(location));
  const std::string key = is_s3 ? "s3" : is_gcs ? "gs" : "azure " + host;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<FileIO>& store = stores_[key];
  if (!store && is_s3) {
    FIRN_ASSIGN(store, OpenS3FileIO(properties_));
  } else if (!store && is_gcs) {
    FIRN_ASSIGN(store, OpenGcsFileIO(properties_));
  } else if (!store) {
    FIRN_ASSIGN(store, OpenAzureFileIO(properties_, host));
  }
  return store.get();
}

Result<std::unique_ptr<RandomAccessSource>> RoutedFileIO::Open(const std::string& location,
                                                               std::optional<std::uint64_t> known_size_bytes) {
  FIRN_ASSIGN(FileIO* const io, Route(location));
  return io->Open(location, known_size_bytes);
}

Result<std::unique_ptr<OutputFile>> RoutedFileIO::Create(const std::string& location) {
  FIRN_ASSIGN(FileIO* const io, Route(location));
  return io->Create(location);
}

Status RoutedFileIO::CheckCreate(const std::string& location) {
  FIRN_ASSIGN(FileIO* const io, Route(location));
  return io->CheckCreate(location);
}

Status RoutedFileIO::CheckExclusive(const std::string& location) {
  FIRN_ASSIGN(FileIO* const io, Route(location));
  return io->CheckExclusive(location);
}

Status RoutedFileIO::Replace(const std::string& location, ByteView bytes) {
  FIRN_ASSIGN(FileIO* const io, Route(location));
  return io->Replace(location, bytes);
}

Status RoutedFileIO::Delete(const std::string& location) {
  FIRN_ASSIGN(FileIO* const io, Route(location));
  return io->Delete(location);
}

Result<bool> RoutedFileIO::Exists(const std::string& location) {
  FIRN_ASSIGN(FileIO* const io, Route(location));
  return io->Exists(location);
}

Result<ListPage> RoutedFileIO::List(const std::string& prefix, const std::string& page) {
  FIRN_ASSIGN(FileIO* const io, Route(prefix));
  return io->List(prefix, page);
}

FileIOFactory StandardFileIO(std::vector<LocationRule> rules) {
  return [rules = std::move(rules)](const Properties& properties) -> Result<std::shared_ptr<FileIO>> {
    std::shared_ptr<FileIO> io = std::make_shared<RoutedFileIO>(properties);
    if (!rules.empty()) io = std::make_shared<MappedFileIO>(std::move(io), rules);
    return io;
  };
}

}  // namespace firn::ports
