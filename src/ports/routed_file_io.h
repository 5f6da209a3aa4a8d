// SPDX-License-Identifier: Apache-2.0
//
// Picks the storage by the scheme of each location.
//
// In: properties (s3.endpoint, ...; docs/catalogs-and-storage.md). Out: one FileIO for all locations of a table.
// Guarantees: plain paths and file: are local, s3, s3a and s3n are S3, gs is Google Cloud Storage, abfs, abfss, wasb
//   and wasbs are Azure; a client is started with the first location that needs it.
// Errors: kUnsupported for other schemes, naming the scheme.
// Threads: any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "ports/file_io.h"
#include "ports/local_file_io.h"
#include "ports/mapped_file_io.h"
#include "ports/properties.h"

namespace firn::ports {

class RoutedFileIO final : public FileIO {
 public:
  explicit RoutedFileIO(Properties properties) : properties_(std::move(properties)) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(
      const std::string& location, std::optional<std::uint64_t> known_size_bytes = std::nullopt) override;
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override;
  Status CheckCreate(const std::string& location) override;
  Status Delete(const std::string& location) override;
  Result<bool> Exists(const std::string& location) override;
  Result<ListPage> List(const std::string& prefix, const std::string& page) override;
  Status CheckExclusive(const std::string& location) override;
  Status Replace(const std::string& location, ByteView bytes) override;

 private:
  Result<FileIO*> Route(const std::string& location);

  Properties properties_;
  LocalFileIO local_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<FileIO>> stores_;  // by kind, on Azure by account
};

/// Makes the FileIO of a catalog or a table out of its properties.
using FileIOFactory = std::function<Result<std::shared_ptr<FileIO>>(const Properties&)>;
/// RoutedFileIO, behind `rules` if there are any.
FileIOFactory StandardFileIO(std::vector<LocationRule> rules = {});

}  // namespace firn::ports
